//! The samples match samples/README.md: its commands yield these bytes, and each sample shows its property.
//!
//! `BLESS=1 cargo test --test it samples` rewrites the files.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use slotscope::cli::generate::GenerateArgs;
use slotscope::slot::slot;

/// The parts of the command line that the samples need.
#[derive(Parser)]
enum Slotscope {
    Generate(GenerateArgs),
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")
}

fn read(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap_or_else(|error| panic!("samples/{name}: {error}"))
}

fn readme() -> String {
    String::from_utf8(read("README.md")).unwrap()
}

/// Compares with the file, or writes it on request.
fn assert_sample(name: &str, expected: &[u8]) {
    if std::env::var_os("BLESS").is_some() {
        fs::write(folder().join(name), expected).unwrap();
    }
    assert!(
        read(name) == expected,
        "samples/{name} differs from how samples/README.md says it was made"
    );
}

fn keys(name: &str) -> Vec<Vec<u8>> {
    let lines = read(name);
    lines
        .strip_suffix(b"\n")
        .unwrap_or(&lines)
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

/// The first slot of each of three equal nodes, split as redis-cli does.
const NODES: [u16; 3] = [0, 5461, 10923];

fn node_of(slot: u16) -> usize {
    NODES.iter().rposition(|first| *first <= slot).unwrap()
}

/// Keys of each node relative to the fair share.
fn over_fair_share(keys: &[Vec<u8>]) -> [f64; 3] {
    let mut over = [0.0; 3];
    let one = 3.0 / keys.len() as f64;
    keys.iter().for_each(|key| over[node_of(slot(key))] += one);
    over
}

/// The shares of the keys in the fullest slot and in the second.
fn fullest_slots(keys: &[Vec<u8>]) -> (f64, f64) {
    let mut counts = HashMap::new();
    keys.iter()
        .for_each(|key| *counts.entry(slot(key)).or_insert(0) += 1);
    let mut shares: Vec<f64> = counts
        .into_values()
        .map(|count: i32| f64::from(count) / keys.len() as f64)
        .collect();
    shares.sort_unstable_by(|a, b| b.total_cmp(a));
    (shares[0], shares[1])
}

#[test]
fn the_commands_in_the_readme_give_these_bytes() {
    let readme = readme();
    let commands: Vec<&str> = readme
        .split('`')
        .filter(|code| code.starts_with("slotscope generate "))
        .collect();
    assert_eq!(commands.len(), 5);
    for command in commands {
        let (command, then) = command.split_once("; ").unwrap_or((command, ""));
        let (words, file) = command.split_once(" > samples/").unwrap();
        let Slotscope::Generate(generate) = Slotscope::try_parse_from(words.split(' ')).unwrap();
        let mut expected = Vec::new();
        generate.dump().write_to(&mut expected).unwrap();
        match then {
            "" => (),
            "sed -i 's/$/\\r/' samples/crlf.keys" => expected = with_crlf(&expected),
            other => panic!("this test cannot run {other}"),
        }
        assert_sample(file, &expected);
    }
}

fn with_crlf(lines: &[u8]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|byte| {
            if *byte == b'\n' {
                vec![b'\r', b'\n']
            } else {
                vec![*byte]
            }
        })
        .collect()
}

#[test]
fn the_nasty_keys_are_those_of_the_list() {
    let mut lines: Vec<Vec<u8>> = NASTY
        .iter()
        .flat_map(|(_, keys)| keys.iter().map(|key| key.to_vec()))
        .collect();
    lines.extend([63, 64, 65, 128, 129, 4_097].map(|len| vec![b'x'; len])); // around the width of a vector
    lines.extend(arrangements(b"{}a", 4));
    lines.push(b"last:key:without:a:line:end".to_vec());
    assert!(lines.iter().all(|key| !key.contains(&b'\n')));
    assert_sample("nasty.keys", &lines.join(&b'\n'));
}

/// Every string of 1 to `most` of these bytes.
fn arrangements(bytes: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut longest = 0;
    for _ in 0..most {
        let grown: Vec<_> = all[longest..]
            .iter()
            .flat_map(|s| bytes.iter().map(|b| [s, &[*b][..]].concat()))
            .collect();
        longest = all.len();
        all.extend(grown);
    }
    all.split_off(1)
}

/// Why keys are nasty, and the keys. The first is plain, so that no format other than lines is recognized.
const NASTY: &[(&str, &[&[u8]])] = &[
    ("plain", &[b"plain:key:1"]),
    ("the empty key", &[b""]),
    (
        "blanks that an editor or a shell would strip",
        &[b" ", b"  two before", b"two after  ", b"\ttab\tbetween\t"],
    ),
    (
        "a CR that belongs to the key, as no line end here has one",
        &[b"carriage\rreturn", b"ends in return\r"],
    ),
    (
        "NUL ends a C string, DEL and SUB end a Windows file",
        &[b"\0", b"nul\0inside", b"{nul\0tag}", b"\x7f", b"\x1a"],
    ),
    (
        "terminal escapes: clear the screen, set the title, a link, colour, the same as C1 controls",
        &[
            b"\x1b[2J\x1b[Hcleared",
            b"\x1b]0;title\x07",
            b"\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\",
            b"{\x1b[31mred}",
            b"\x9b31mred",
            b"\xc2\x9b31mred",
            b"bell\x07 and back\x08space",
        ],
    ),
    (
        "invalid UTF-8: a lone byte, a cut sequence, an overlong NUL, a surrogate, beyond Unicode",
        &[
            b"\xff",
            b"\x80:alone",
            b"cut \xe2\x82",
            b"\xc0\x80",
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"{\xff\xfe}:tag",
        ],
    ),
    (
        "a byte order mark that is not at the start",
        &["\u{feff}mark".as_bytes()],
    ),
    (
        "text that runs, or is turned, right to left; invisible characters",
        &[
            "left\u{200f}right".as_bytes(),
            "\u{202e}desrever".as_bytes(),
            "\u{2067}isolated\u{2069}".as_bytes(),
            "zero\u{200b}width".as_bytes(),
            "soft\u{ad}hyphen".as_bytes(),
            "line\u{2028}separator".as_bytes(),
            "tag\u{e0041}character".as_bytes(),
            "\u{645}\u{631}\u{62d}\u{628}\u{627}".as_bytes(),
        ],
    ),
    (
        "characters wider than one column, or joined from several",
        &[
            "\u{6536}\u{85cf}:{\u{7528}\u{6237}}".as_bytes(),
            "\u{1f469}\u{200d}\u{1f680}".as_bytes(),
            "e\u{301}".as_bytes(),
        ],
    ),
    (
        "markup and scripts",
        &[
            b"<script>alert(1)</script>",
            b"{<script>alert(1)</script>}",
            b"</script><svg onload=alert(1)>",
            b"<!-- open",
            b"]]>",
            b"&lt;&amp;&#0;",
            b"\"><img src=x onerror=alert(1)>",
            b"javascript:alert(1)",
            b"${x} {{x}} <%= x %>",
        ],
    ),
    (
        "cells that a spreadsheet would run",
        &[
            b"=cmd()",
            b"=1+1",
            b"+1",
            b"-1",
            b"@SUM(A1)",
            b"{=cmd()}",
            b"\t=1+1",
        ],
    ),
    (
        "quotes, separators and escapes of CSV, JSON and shells",
        &[
            b"\"",
            b"\"quoted\"",
            b"two\"\"quotes",
            b"it's",
            b"a,b;c|d",
            b"back\\slash",
            b"\\x00 \\n \\",
            b"%s%n%d",
            b"$(id) `id` && id",
            b"../../etc/passwd",
            b"-- --help",
            b"{\"key\":\"value\"}",
            b"[1,2]",
            b"1) \"numbered\"",
        ],
    ),
    (
        "words that mean something to some reader",
        &[b"null", b"NaN", b"true", b"0", b"undefined", b"key"],
    ),
    (
        "names of many segments, and of none",
        &[b":", b"::::", b"a:::b", b"{:}", b"a:b:c:d:e:f:g:h:i:j:k:l"],
    ),
];

#[test]
fn every_file_is_in_the_readme_and_small() {
    let readme = readme();
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert!(
            name == "README.md" || readme.contains(&format!("| `{name}` |")),
            "{name} is not in the table"
        );
        let most = if name == "shop.csv.zst" {
            3_000_000
        } else {
            250_000
        };
        assert!(
            entry.metadata().unwrap().len() < most,
            "{name} is too large for a sample"
        );
    }
}

/// The output of samples/make-shop.
fn made_shop(flag: &str) -> Vec<u8> {
    let output = Command::new("python3")
        .arg(folder().join("make-shop"))
        .arg(flag)
        .output()
        .expect("python3 runs samples/make-shop");
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

#[test]
fn the_shop_is_what_its_script_makes() {
    if std::env::var_os("BLESS").is_some() {
        let status = Command::new(folder().join("make-shop")).status().unwrap();
        assert!(status.success());
    }
    // Versions of zstd compress differently: only the content is compared.
    let table = zstd::decode_all(&read("shop.csv.zst")[..]).unwrap();
    assert!(table == made_shop("--csv"), "run samples/make-shop");
    assert_sample("shop.nodes", &made_shop("--nodes"));
}

#[test]
fn in_commerce_the_node_of_the_common_tag_stands_out() {
    let keys = keys("commerce.keys");
    let over = over_fair_share(&keys);
    assert!(
        (1.16..1.18).contains(&over[node_of(slot(b"common"))]),
        "{over:?}"
    );
    let common = keys
        .iter()
        .filter(|key| key.windows(8).any(|part| part == b"{common}"))
        .count();
    assert!(
        (0.0645..0.0655).contains(&(common as f64 / keys.len() as f64)),
        "{common}"
    );
}

#[test]
fn uniform_is_balanced() {
    let over = over_fair_share(&keys("uniform.keys"));
    assert!(
        over.iter().all(|over| (0.98..1.02).contains(over)),
        "{over:?}"
    );
}

#[test]
fn one_slot_of_hot_tag_and_one_user_of_tagged_zipf_stand_out() {
    let hot = keys("hot-tag.keys");
    let (first, next) = fullest_slots(&hot);
    assert!(
        (0.125..0.135).contains(&first) && next < 0.01,
        "{first} {next}"
    );
    let over = over_fair_share(&hot);
    assert!(
        (1.23..1.25).contains(&over[node_of(slot(b"config"))]),
        "{over:?}"
    );
    let (first, next) = fullest_slots(&keys("tagged-zipf.keys"));
    assert!(
        (0.085..0.095).contains(&first) && (0.04..0.05).contains(&next),
        "{first} {next}"
    );
}

#[test]
fn the_examples_are_in_the_slots_that_were_published_with_them() {
    let keys = keys("seed-examples.keys");
    let published: &[(&[u8], u16)] = &[
        (b"user::10086", 14982),
        (b"user::10087", 10919),
        (b"{user}::10086", 5474),
        (b"name", 5798),
        (b"name1", 12933),
        (b"name2", 742),
        (b"name3", 4807),
    ];
    for (key, expected) in published {
        assert!(keys.iter().any(|line| line == key));
        assert_eq!(slot(key), *expected, "{}", String::from_utf8_lossy(key));
    }
}

#[test]
fn the_masters_of_the_example_cluster_own_every_slot_once() {
    let text = String::from_utf8(read("seed-cluster.nodes")).unwrap();
    let masters = text.lines().filter(|line| line.contains("master"));
    let mut ranges: Vec<(usize, usize)> = masters
        .map(|line| line.rsplit(' ').next().unwrap().split_once('-').unwrap())
        .map(|(first, last)| (first.parse().unwrap(), last.parse().unwrap()))
        .collect();
    ranges.sort_unstable();
    assert_eq!(ranges, [(0, 5460), (5461, 10922), (10923, 16383)]);
}
