//! `stats` and `corr`.

use serde_json::Value;

use crate::support::Room;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn all_formats_have_the_same_statistics() {
    let room = Room::new();
    let expected = room.ok("stats --json iris.csv");
    for name in ["a.ntb", "b.parquet", "c.arrow"] {
        room.ok(&format!("convert iris.csv {name}"));
        let mut found = json(&room.ok(&format!("stats --json {name}")));
        let mut expected = json(&expected);
        for table in [&mut found, &mut expected] {
            table["columns"].as_array_mut().unwrap().iter_mut().for_each(|column| column["type"] = Value::Null);
        }
        assert_eq!(found, expected, "{name}");
    }
    let groups = room.ok("stats --json --by species iris.csv");
    for name in ["a.ntb", "b.parquet", "c.arrow"] {
        assert_eq!(room.ok(&format!("stats --json --by species {name}")), groups, "{name}");
        assert_eq!(room.ok(&format!("corr {name}")), room.ok("corr iris.csv"), "{name}");
    }
}

#[test]
fn numbers_are_those_of_the_values() {
    let room = Room::new();
    room.write("t.csv", "g,x,y\n0,1,2\n2,3,\n0,5,8\n,7,1\n");
    let stats = json(&room.ok("stats --json --quantiles 0,0.5,1 t.csv"));
    let x = &stats["columns"][1];
    assert_eq!((x["mean"].as_f64(), x["sum"].as_f64(), x["missing"].as_u64()), (Some(4.0), Some(16.0), Some(0)));
    assert_eq!(x["quantiles"], serde_json::json!({ "0": 1.0, "0.5": 3.0, "1": 7.0 }));
    assert_eq!(stats["columns"][2]["missing"], 1);
    let groups = json(&room.ok("stats --json --by g t.csv"));
    let rows: Vec<(&Value, u64, &Value)> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (&group["group"], group["rows"].as_u64().unwrap(), &group["columns"][0]["mean"]))
        .collect();
    assert_eq!(
        rows,
        [
            (&serde_json::json!(0), 2, &serde_json::json!(3.0)),
            (&serde_json::json!(2), 1, &serde_json::json!(3.0)),
            (&Value::Null, 1, &serde_json::json!(7.0)),
        ]
    );
    let corr = json(&room.ok("corr --json --columns x,y t.csv"));
    assert_eq!((&corr["rows"], &corr["rows_with_missing"]), (&serde_json::json!(3), &serde_json::json!(1)));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let room = Room::new();
    room.write("t.csv", "g,x\n-1,1\n0.5,2\n");
    for arguments in [
        "stats --by g t.csv",
        "stats --quantiles 2 t.csv",
        "corr --columns species iris.csv",
        "stats --by nothing t.csv",
    ] {
        let run = room.run(arguments);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments}: {run:?}");
        assert!(run.err.starts_with("error: "), "{run:?}");
    }
    room.write("none.csv", "a,b\n");
    assert!(room.ok("stats none.csv").starts_with("0 rows"));
}
