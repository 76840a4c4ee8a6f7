//! The calls on windows whose element type is known at compile time.

use super::*;

pub(super) trait Calls: Element {
    fn read(window: Window<'_, Self>, target: AnySliceMut<'_>, policy: ConversionPolicy, origin: Origin) -> Result<()> {
        super::super::read(AnyWindow::new(window), target, policy, origin)
    }

    fn read_over(
        window: Window<'_, Self>,
        target: AnySliceMut<'_>,
        policy: ConversionPolicy,
        origin: Origin,
    ) -> Result<()> {
        super::super::read_over(AnyWindow::new(window), target, policy, origin)
    }

    /// Reads into the middle of the target's rows, which are `gap` elements longer than those of the window.
    fn read_rows(
        window: Window<'_, Self>,
        (target, gap): (AnySliceMut<'_>, usize),
        policy: ConversionPolicy,
        origin: Origin,
        old: OldValues,
    ) -> Result<()> {
        let Geometry { rows, columns, .. } = window.geometry();
        let mut target = AnyRows::new(target.into_room(), rows, columns + gap);
        let target = target.cut(0..rows, gap / 2..gap / 2 + columns);
        super::super::read_rows(AnyWindow::new(window), target, policy, origin, old)
    }

    fn to_array(
        window: Window<'_, Self>,
        target: ElementType,
        policy: ConversionPolicy,
        origin: Origin,
    ) -> Result<AnyArray> {
        super::super::to_array(AnyWindow::new(window), target, policy, origin)
    }

    fn check(window: Window<'_, Self>, target: ElementType, policy: ConversionPolicy, origin: Origin) -> Result<()> {
        super::super::check(AnyWindow::new(window), target, policy, origin)
    }

    fn write(window: WindowMut<'_, Self>, source: AnySlice<'_>, rule: WriteRule, origin: Origin) -> Result<()> {
        super::super::write(AnyWindowMut::new(window), source, rule, origin)
    }

    fn report(window: Window<'_, Self>, target: ElementType) -> ConversionReport {
        super::super::report(AnyWindow::new(window), target)
    }

    fn from_any(value: AnyValue, policy: ConversionPolicy, origin: Origin) -> Result<Self> {
        value_as(value, policy, origin)
    }
}

impl<T: Element> Calls for T {}
