//! Parquet files byte by byte, in Thrift's compact protocol.

pub(crate) const I32: u8 = 5;
pub(crate) const I64: u8 = 6;
pub(crate) const BINARY: u8 = 8;
pub(crate) const LIST: u8 = 9;
pub(crate) const STRUCT: u8 = 12;

/// Appends an integer of variable length.
pub(crate) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// A structure.
#[derive(Default)]
pub(crate) struct Fields {
    bytes: Vec<u8>,
    last: u8,
}

impl Fields {
    pub(crate) fn field(mut self, number: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((number - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = number;
        self
    }

    pub(crate) fn integer(self, number: u8, kind: u8, value: i64) -> Self {
        let mut bytes = Vec::new();
        varint(&mut bytes, (value << 1 ^ value >> 63) as u64);
        self.field(number, kind, &bytes)
    }

    pub(crate) fn text(self, number: u8, text: &str) -> Self {
        let mut bytes = Vec::new();
        varint(&mut bytes, text.len() as u64);
        bytes.extend(text.bytes());
        self.field(number, BINARY, &bytes)
    }

    pub(crate) fn fields(self, number: u8, fields: Self) -> Self {
        self.field(number, STRUCT, &fields.end())
    }

    /// Adds a list that claims `count` items.
    pub(crate) fn list(self, number: u8, kind: u8, items: &[Vec<u8>], count: usize) -> Self {
        let mut bytes = vec![0xf0 | kind];
        varint(&mut bytes, count as u64);
        bytes.extend(items.concat());
        self.field(number, LIST, &bytes)
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// A column that is not nullable, of a stored type; texts are UTF-8.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) stored: i64,
}

/// 64-bit integers.
pub(crate) const INT64: Column = Column { stored: 2 };
/// Texts.
pub(crate) const TEXT: Column = Column { stored: 6 };

/// The group of all columns.
pub(crate) fn root(children: i64) -> Fields {
    Fields::default().text(4, "r").integer(5, I32, children)
}

impl Column {
    pub(crate) fn element(self) -> Vec<u8> {
        let element = Fields::default().integer(1, I32, self.stored).integer(3, I32, 0).text(4, "a");
        if self.stored == 6 { element.integer(6, I32, 0).end() } else { element.end() }
    }

    /// A page of `count` values, if its header is right.
    pub(crate) fn page(count: i64, values: &[u8], encoding: i64) -> Vec<u8> {
        let head = Fields::default().integer(1, I32, count).integer(2, I32, encoding).integer(3, I32, 3);
        Self::any_page(0, 5, head.integer(4, I32, 3), values)
    }

    /// A dictionary that claims `count` values.
    pub(crate) fn dictionary(count: i64, values: &[u8]) -> Vec<u8> {
        Self::any_page(2, 7, Fields::default().integer(1, I32, count).integer(2, I32, 0), values)
    }

    fn any_page(kind: i64, number: u8, head: Fields, values: &[u8]) -> Vec<u8> {
        let length = values.len() as i64;
        let page = Fields::default().integer(1, I32, kind).integer(2, I32, length).integer(3, I32, length);
        [page.fields(number, head).end(), values.to_vec()].concat()
    }

    /// Returns a file with only this column. `pages` are its pages, which begin with a dictionary of `dictionary` bytes,
    /// and `index` is their index.
    pub(crate) fn file(self, rows: i64, pages: &[u8], dictionary: usize, index: &[u8]) -> Vec<u8> {
        let name = [&[1][..], b"a"].concat();
        let (length, start) = (pages.len() as i64, 4 + dictionary as i64);
        let chunk = Fields::default()
            .integer(1, I32, self.stored)
            .list(2, I32, &[vec![0]], 1)
            .list(3, BINARY, &[name], 1)
            .integer(4, I32, 0)
            .integer(5, I64, rows)
            .integer(6, I64, length)
            .integer(7, I64, length)
            .integer(9, I64, start);
        let chunk = if dictionary > 0 { chunk.integer(11, I64, 4) } else { chunk };
        let chunk = Fields::default().integer(2, I64, 0).fields(3, chunk);
        let chunk = match index.len() {
            0 => chunk,
            size => chunk.integer(4, I64, 4 + length).integer(5, I32, size as i64),
        };
        let group = Fields::default().list(1, STRUCT, &[chunk.end()], 1).integer(2, I64, length).integer(3, I64, rows);
        let schema = [root(1).end(), self.element()];
        file(&[pages, index].concat(), &footer(&schema, 2, rows, &[group.end()], 1))
    }
}

/// A footer that claims numbers of elements and of row groups.
pub(crate) fn footer(
    schema: &[Vec<u8>],
    elements: usize,
    rows: i64,
    groups: &[Vec<u8>],
    group_count: usize,
) -> Vec<u8> {
    let footer = Fields::default().integer(1, I32, 1).list(2, STRUCT, schema, elements).integer(3, I64, rows);
    footer.list(4, STRUCT, groups, group_count).end()
}

pub(crate) fn file(body: &[u8], footer: &[u8]) -> Vec<u8> {
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", body, footer, &length, b"PAR1"].concat()
}
