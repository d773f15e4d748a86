//! Keys with every type in every encoding of a server, with names that are hard to escape.

use testkit::kinds::Kind;
use testkit::redis::{Client, Reply};
use testkit::rng::Rng;

/// Far enough away that nothing expires in a test.
pub(crate) const LATER_MS: i64 = 4_102_444_800_123;

/// Commands that are pipelined.
#[derive(Default)]
pub(crate) struct Commands(Vec<Vec<Vec<u8>>>);

impl Commands {
    /// Adds a command whose words contain no spaces.
    pub(crate) fn say(&mut self, command: &str) {
        let words: Vec<&str> = command.split_whitespace().collect();
        self.push(&words);
    }

    /// Adds a command, word by word.
    pub(crate) fn push<W: AsRef<[u8]>>(&mut self, words: &[W]) {
        let words = words.iter().map(|word| word.as_ref().to_vec());
        self.0.push(words.collect());
    }

    /// Adds a command on a key with many more words, split into several commands.
    pub(crate) fn push_all<W: AsRef<[u8]>>(
        &mut self,
        command: &str,
        key: &str,
        words: &[W],
        at_once: usize,
    ) {
        for chunk in words.chunks(at_once) {
            let words = chunk.iter().map(AsRef::as_ref);
            let head = [command.as_bytes(), key.as_bytes()];
            self.push(&head.into_iter().chain(words).collect::<Vec<&[u8]>>());
        }
    }

    /// Sends all of them; all must succeed.
    pub(crate) fn send(self, client: &mut Client) {
        let replies = client.pipeline_of(self.0.iter().cloned());
        for (command, reply) in self.0.iter().zip(replies) {
            let shown = command.concat();
            let shown = shown[..shown.len().min(60)].escape_ascii();
            assert!(!matches!(reply, Reply::Error(_)), "{shown}: {reply:?}");
        }
    }
}

/// Everything this server supports, including values of loaded modules.
pub(crate) fn fill(client: &mut Client, kind: Kind) {
    let mut commands = Commands::default();
    strings(&mut commands);
    odd_names(&mut commands);
    collections(&mut commands);
    streams(&mut commands);
    if kind != Kind::Installed {
        expiring_fields(&mut commands);
    }
    if kind == Kind::Redis74 {
        modules(&mut commands);
    }
    if kind.has_vectors() {
        vectors(&mut commands);
    }
    if kind.has_arrays() {
        arrays(&mut commands);
    }
    let code = "#!lua name=l\nredis.register_function('f', function() end)";
    commands.push(&["FUNCTION", "LOAD", code]);
    for key in ["raw", "int:8", "list:3000:90", "stream:nodes", "hash:1:4"] {
        commands.say(&format!("PEXPIREAT {key} {LATER_MS}"));
    }
    commands.send(client);
}

fn strings(commands: &mut Commands) {
    let mut rng = Rng::new(7);
    for row in "int:small 5,int:8 -100,int:16 -32768,int:32 2147483647,int:33 2147483648,\
        int:64 9223372036854775807,int:lowest -9223372036854775808,not:int 0123,\
        not:int:plus +1,not:int:zero -0,not:int:too:long 9223372036854775808"
        .split(',')
    {
        commands.say(&format!("SET {row}"));
    }
    commands.push(&["SET", "empty", ""]);
    commands.push(&["SET", "compressible", &"x".repeat(100_000)]);
    for len in [
        1, 16, 30, 43, 44, 45, 64, 100, 254, 255, 256, 257, 20_000, 65_535, 65_536, 100_000,
    ] {
        let key = format!("string:{len}");
        commands.push(&[b"SET", key.as_bytes(), &rng.bytes(len)]);
    }
    commands.push(&[&b"SET"[..], b"raw", &rng.bytes(45)]);
    let members: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    commands.push_all("PFADD", "hyperloglog", &members, 100);
}

fn odd_names(commands: &mut Commands) {
    let mut rng = Rng::new(8);
    for key in [
        &b""[..],
        b"12345",
        b"-7",
        b"nul\0line\nend\xFF{tag}",
        b"{}",
        b"{user1000}.following",
        b"foo{{bar}}zap",
        &[b'k'; 300],
        &rng.bytes(70_000),
    ] {
        commands.push(&[b"SET", key, b"v"]);
    }
    for len in [20, 31, 32, 127, 128, 255, 256] {
        let key = format!("{:k>len$}", len);
        commands.push(&["SET", &key, "v"]);
        commands.push(&["SET", &format!("t{key}"), "v", "PX", "100000000000"]);
    }
}

/// Lists, sets, sorted sets and hashes with various numbers of elements and sizes, which are in their names.
fn collections(commands: &mut Commands) {
    for many in [1, 2, 7, 60, 129, 513, 3000] {
        for len in [4, 30, 90] {
            let members: Vec<String> = (0..many).map(|i| format!("{i:0len$}m")).collect();
            let scored: Vec<String> = (0..many)
                .flat_map(|i| [format!("{}.5", i * 7), format!("{i:0len$}m")])
                .collect();
            let fields: Vec<String> = (0..many)
                .flat_map(|i| [format!("f{i}"), format!("{i:0len$}v")])
                .collect();
            commands.push_all("RPUSH", &format!("list:{many}:{len}"), &members, 500);
            commands.push_all("SADD", &format!("set:{many}:{len}"), &members, 500);
            commands.push_all("ZADD", &format!("zset:{many}:{len}"), &scored, 500);
            commands.push_all("HSET", &format!("hash:{many}:{len}"), &fields, 500);
        }
        let wide = 1_000_003_i64.pow(1 + u32::from(many > 100));
        let numbers: Vec<String> = (0..many)
            .map(|i| (i64::from(i) * wide).to_string())
            .collect();
        commands.push_all("SADD", &format!("set:of:{many}:numbers"), &numbers, 500);
    }
    // Elements too long for a packed node, alone and between others.
    let mut rng = Rng::new(9);
    let long = rng.bytes(20_000);
    commands.push(&[&b"RPUSH"[..], b"list:plain", &long]);
    let between = [&b"a"[..], &long, b"b", b"c"];
    commands.push_all("RPUSH", "list:plain:between", &between, 4);
    commands.push(&[&b"HSET"[..], b"hash:long:value", b"f", &long]);
    // Lengths around which string headers and embedded parts change.
    for len in [29, 31, 90, 110, 200, 315, 600] {
        let half = len / 2;
        let pairs = (0..100).flat_map(|i| {
            let wide = format!("{i:0len$}");
            [wide.clone(), format!("{i:0half$}"), format!("f{i}"), wide]
        });
        let pairs: Vec<String> = pairs.collect();
        commands.push_all("HSET", &format!("hash:wide:{len}"), &pairs, 500);
    }
    commands.push(&[&b"HSET"[..], b"hash:long:field", &long, b"v"]);
    commands.push(&[&b"SADD"[..], b"set:long:member", &long]);
    commands.push(&[&b"ZADD"[..], b"zset:long:member", b"-inf", &long]);
    commands.say("ZADD zset:infinite +inf a -inf b 1e300 c 0.1 d 3 e");
    commands.say("GEOADD geo 13.361389 38.115556 Palermo 15.087269 37.502669 Catania");
}

fn streams(commands: &mut Commands) {
    let many = |commands: &mut Commands, key: &str, count: u64| {
        for i in 1..=count {
            let id = format!("{}-{}", 1_700_000_000_000 + 977 * (i / 3), i % 3);
            commands.push(&["XADD", key, &id, "field", &format!("value {i}"), "n", "7"]);
        }
    };
    many(commands, "stream:one", 1);
    many(commands, "stream:nodes", 1000);
    many(commands, "stream:deleted", 300);
    many(commands, "stream:emptied", 5);
    commands.say("XADD stream:small 1-1 f v");
    commands.say("XADD stream:small 1-2 other v");
    commands.say("XADD stream:small 18446744073709551615-1 f v");
    for i in 50..150 {
        let ms = 1_700_000_000_000u64 + 977 * (i / 3);
        commands.say(&format!("XDEL stream:deleted {ms}-{}", i % 3));
    }
    commands.say("XTRIM stream:deleted MAXLEN = 120");
    commands.say("XTRIM stream:emptied MAXLEN = 0");
    for key in ["stream:nodes", "stream:deleted"] {
        for group in ["one", "two", "none"] {
            commands.say(&format!("XGROUP CREATE {key} {group} 0"));
        }
        for (group, consumer, count) in [("one", "a", 20), ("one", "b", 70), ("two", "a", 5)] {
            commands.say(&format!(
                "XREADGROUP GROUP {group} {consumer} COUNT {count} STREAMS {key} >"
            ));
        }
        commands.say(&format!("XGROUP CREATECONSUMER {key} one idle"));
        commands.say(&format!("XGROUP SETID {key} two $"));
    }
    commands.say("XACK stream:nodes one 1700000000000-1 1700000000000-2");
    commands.say("XGROUP CREATE stream:group:only g $ MKSTREAM");
}

/// Hashes with expiring fields: some, all, and none any more.
fn expiring_fields(commands: &mut Commands) {
    for many in [1, 3, 60, 700] {
        for (name, step) in [("all", 1), ("some", 3)] {
            let key = format!("hash:expiring:{name}:{many}");
            let pairs = (0..many).flat_map(|i| [format!("f{i}"), format!("vf{i}")]);
            commands.push_all("HSET", &key, &pairs.collect::<Vec<_>>(), 500);
            for i in (0..many).step_by(step) {
                commands.say(&format!("HPEXPIREAT {key} {LATER_MS} FIELDS 1 f{i}"));
            }
        }
    }
    for key in ["hash:expiring:some:60", "hash:expiring:some:700"] {
        commands.say(&format!("HPEXPIREAT {key} {} FIELDS 2 f0 f3", LATER_MS + 5));
    }
    let mut rng = Rng::new(10);
    for (name, span) in [("hour", 3_600_000), ("month", 2_592_000_000)] {
        for i in 0..900 {
            let key = format!("hash:expiring:{name}");
            let at = LATER_MS + rng.below(span) as i64;
            commands.say(&format!("HSET {key} field:{i} value:{i}"));
            commands.say(&format!("HPEXPIREAT {key} {at} FIELDS 1 field:{i}"));
        }
    }
    commands.say("HSET hash:kept a 1 b 2");
    commands.say(&format!("HPEXPIREAT hash:kept {LATER_MS} FIELDS 1 a"));
    commands.say("HPERSIST hash:kept FIELDS 1 a");
    commands.say(&format!("HSET hash:kept:large a {:090}", 1));
    commands.say(&format!("HPEXPIREAT hash:kept:large {LATER_MS} FIELDS 1 a"));
    commands.say("HPERSIST hash:kept:large FIELDS 1 a");
    commands.say(&format!("HSET hash:both f {:0200} g short", 1));
    commands.say(&format!("HPEXPIREAT hash:both {LATER_MS} FIELDS 1 f"));
    commands.say(&format!("PEXPIREAT hash:both {LATER_MS}"));
}

/// Vector sets in each form, with and without attributes and projections.
fn vectors(commands: &mut Commands) {
    for (form, dimensions, links) in [("NOQUANT", 3, 16), ("Q8", 64, 4), ("BIN", 100, 32)] {
        for element in 0..30 {
            let key = format!("vectors:{form}");
            let value = |at| format!(" 0.{}", 1 + (element * 7 + at * 3) % 89);
            let values: String = (0..dimensions).map(value).collect();
            let mut of = format!("element:{element} {form} M {links}");
            if form == "Q8" && element % 2 == 0 {
                of += &format!(" SETATTR {{\"a\":{element}}}");
            }
            commands.say(&format!("VADD {key} VALUES {dimensions}{values} {of}"));
        }
    }
    let projected = "VADD vectors:projected REDUCE 2 VALUES 4 0.1 0.2 0.3 0.5 element";
    commands.say(projected);
}

/// Arrays with every layout: dense, with gaps, with elements far apart, with elements that need no block of their own.
fn arrays(commands: &mut Commands) {
    for (name, step, count) in [
        ("dense", 1, 500),
        ("gaps", 37, 300),
        ("few", 90, 9),
        ("far", 3_000_001, 20),
    ] {
        for at in 0..count {
            let (place, width) = (at * step, 1 + at % 40);
            commands.say(&format!("ARSET array:{name} {place} {at:0width$}"));
        }
    }
    commands.say("ARSET array:mixed 0 17 -5 1.5 short text:longer 0123456789");
    commands.push(&["ARSET", "array:long", "7", &"x".repeat(40_000)]);
    commands.say(&format!("PEXPIREAT array:mixed {LATER_MS}"));
}

/// A value for each type of the modules.
fn modules(commands: &mut Commands) {
    for command in [
        r#"JSON.SET module:json $ {"a":1.5,"b":[true,null,"text"],"c":{"d":-7}}"#,
        "BF.ADD module:bloom x",
        "CF.ADD module:cuckoo x",
        "CMS.INITBYDIM module:sketch 2000 5",
        "TOPK.RESERVE module:top 10",
        "TOPK.ADD module:top a b c",
        "TDIGEST.CREATE module:digest",
        "TDIGEST.ADD module:digest 1 2 3.5",
        "TS.CREATE module:series LABELS l v",
        "TS.ADD module:series 1000 1.5",
        "TS.ADD module:series 2000 2.5",
    ] {
        commands.say(command);
    }
    commands.say(&format!("PEXPIREAT module:json {LATER_MS}"));
}
