//! Lines with text around names, and their patterns.

use super::*;

fn of(rows: &[&str]) -> Option<String> {
    pattern(&rows.iter().map(|row| row.as_bytes()).collect::<Vec<_>>())
}

#[test]
fn the_text_around_names_is_found() {
    for (rows, expected) in [
        (
            &[
                "- [ ] user:1 (121 bytes)",
                "- [ ] cart:2 (97 bytes)",
                "- [ ] lock:3 (1024 bytes)",
            ][..],
            "- [ ] {key} ({size})",
        ),
        (
            &[
                "user:1   1.2 KB  string",
                "cart:2   97 B    hash",
                "lock:{3} 4.0 MB  set",
            ],
            "{key} {size} {_}",
        ),
        (
            &[
                "set 'user:1' = 12",
                "set 'it s:3' = 97",
                "set 'cart:2' = 450",
            ],
            "set {key:q} = {size}",
        ),
        (
            &[
                "k.txt:2:user:1",
                "k.txt:9:cart:2",
                "k.txt:12:lock:3",
                "k.txt:30:a:4",
            ],
            "{_}:{_}:{key}",
        ),
        (
            &[
                "user:1 ........  1.237 bytes",
                "cart:{2} ......     97 bytes",
                "lock:3 ........ 12.024 bytes",
            ],
            "{key} {_} {size:comma}",
        ),
        (
            &[
                "[12/06 08:17:26] key 'user:1' uses 97 bytes",
                "[12/06 08:18:31] key 'cart:2' uses 1024 bytes",
                "[12/06 08:20:05] key 'lock:3' uses 12 bytes",
            ],
            "[12/06 {_}] key {key:q} uses {size}",
        ),
        (
            &[
                "h vk[2]: user:1: 201 bytes, ttl 7410s",
                "h vk[2]: cart:2: 1073 bytes, ttl none",
                "h vk[2]: lock:3: 97 bytes, ttl 5h",
            ],
            "h vk[2]: {key}: {size}, ttl {_}",
        ),
        (
            &["<li>user:1</li>", "<li>cart:2</li>", "<li>lock:3</li>"],
            "<li>{key}</li>",
        ),
        (
            &[
                "[pod/a-1/x] user:1 97",
                "[pod/a-7/x] cart:2 1024",
                "[pod/b-2/x] lock:3 12",
            ],
            "{_} {key} {size}",
        ),
        (
            &[
                "{Key:user:1 Type:set Bytes:97}",
                "{Key:cart:2 Type:set Bytes:12}",
                "{Key:lock:3 Type:set Bytes:450}",
            ],
            "{{Key:{key} Type:set Bytes:{size}}}",
        ),
        (
            &["'user:1': 97,", "\"it's:3\": 450,", "'cart:2': 12,"],
            "{key:q}: {size},",
        ),
        (
            &[
                "1. user:1 (2,047,696 bytes)",
                "2. cart:2 (994,992 bytes)",
                "3. lock:3 (56 bytes)",
            ],
            "{_} {key} ({size})",
        ),
        (
            &[
                "|1|{{user:1}}|set|97|",
                "|2|{{cart:2}}|set|12|",
                "|3|{{lock:3}}|set|450|",
            ],
            "|{_}|{{{{{key}}}}}|set|{size}|",
        ),
        (
            &["a:1 b:1 ttl:97", "c:2 b:2 ttl:12", "d:3 b:3 ttl:450"],
            "{key} b:{_} ttl:{_}",
        ),
    ] {
        assert_eq!(of(rows).as_deref(), Some(expected), "{rows:?}");
    }
    let log = (0..9).map(|at| {
        let (level, place) = ([("INFO   ", 12), ("WARNING", 14)])[at % 2];
        format!("2026-11-30 10:1{at}:12.1 | {level} | scan:main:{place} - user:{at} 12{at}{at}")
    });
    let log: Vec<String> = log.collect();
    let log: Vec<&str> = log.iter().map(String::as_str).collect();
    let expected = "2026-11-30 {_} | {_} | {_} - {key} {size}";
    assert_eq!(of(&log).as_deref(), Some(expected));
    for rows in [
        &["user:1", "cart:2", "lock:3"][..],
        &["{user:1}:a", "{user:2}:b", "{user:3}:c"],
        &["search red shoes", "search blue hats", "search my bag"],
        &["10:user:1", "11:user:2", "12:user:3", "13:user:4"],
    ] {
        assert_eq!(of(rows), None, "{rows:?}");
    }
}
