//! Names as in guides to hash tags: one tag for a whole site, a tag of a domain and a user, and batches whose fan-out
//! determines their tail latency.

use testkit::prelude::*;

/// The outputs of `advise` and `fanout` for names and commands, on 12 nodes.
struct Said {
    scratch: Scratch,
    advice: Value,
}

impl Said {
    fn of(names: impl Iterator<Item = String>, commands: impl Iterator<Item = String>) -> Self {
        let scratch = Scratch::with("names", names.map(|name| name + "\n").collect::<String>());
        let commands: String = commands.map(|command| command + "\n").collect();
        scratch.file("commands", commands);
        let advice = scratch.report("advise names --batches commands --nodes 12 --json");
        Said { scratch, advice }
    }

    /// The output of `fanout` for the commands with the new names.
    fn fanout(&self, becomes: impl Fn(&str) -> String) -> Value {
        let commands = self.scratch.read("commands");
        let renamed = commands.lines().map(|line| {
            let words = line.split(' ').map(&becomes);
            words.collect::<Vec<_>>().join(" ") + "\n"
        });
        self.scratch.file("renamed", renamed.collect::<String>());
        self.scratch.report("fanout renamed --nodes 12 --json")
    }
}

#[test]
fn a_tag_for_the_whole_site_is_taken_off_where_its_keys_are_read_apart() {
    for tag in ["common", "config"] {
        let names = (0..6000).map(|i| format!("{{{tag}}}:item:{i}"));
        let commands = (0..300).map(|i| {
            let item = |times: u32| format!("{{{tag}}}:item:{}", i * times % 6000);
            format!("MGET {} {} {}", item(7), item(13), item(29))
        });
        let said = Said::of(names, commands);
        let becomes = [[format!("{{{tag}}}:item:<n>"), format!("{tag}:item:<n>")]];
        assert_eq!(
            said.advice["families"].each("pattern becomes"),
            json!(becomes)
        );
    }
}

#[test]
fn a_tag_of_a_domain_and_a_user_is_left_and_two_users_of_a_command_are_not_joined() {
    let names = (0..3000).flat_map(|user| {
        ["news:001", "news:002", "meta"]
            .map(|end| format!("prod:news:favorites:{{fav:{user}}}:{end}"))
    });
    let commands = (0..400).map(|i| {
        let user = i * 37 % 3000;
        let of = |end: &str| format!("prod:news:favorites:{{fav:{user}}}:{end}");
        format!("MGET {} {}", of("news:001"), of("meta"))
    });
    let said = Said::of(names, commands);
    assert_eq!(said.advice["why"], "already_good", "{}", said.advice);

    let names = (0..3000).map(|user| format!("{{u{user}}}:profile"));
    let commands = (0..400).map(|i| {
        let user = |times: u32| format!("{{u{}}}:profile", i * times % 3000);
        format!("MGET {} {}", user(7), user(11))
    });
    let said = Said::of(names, commands);
    assert_eq!(said.advice["why"], "no_common_id", "{}", said.advice);
}

#[test]
fn fanout_and_tail_of_the_renamed_commands_are_those_that_the_advice_promises() {
    let parts = ["items", "total", "coupon", "address"];
    let users: Vec<String> = (0..3000).map(|user| (user * 13).to_string()).collect();
    let key = |user: &str, part: &str| format!("cart:{user}:{part}");
    let names = users
        .iter()
        .flat_map(|user| parts.map(|part| key(user, part)));
    let commands = (0..500).map(|i| {
        let user = &users[i * 7 % users.len()];
        let keys = parts.map(|part| key(user, part));
        let verb = if i % 5 == 0 { "EVAL x 4" } else { "MGET" };
        format!("{verb} {}", keys.join(" "))
    });
    let said = Said::of(names, commands);
    assert_eq!(said.advice["advice"], "change");
    let tagged = |word: &str| match word.split(':').collect::<Vec<_>>()[..] {
        ["cart", user, part] => format!("{{cart:{user}}}:{part}"),
        _ => word.to_owned(),
    };
    let [best, today] = [0, 1].map(|at| &said.advice["schemes"][at]);
    for (scheme, fanout) in [
        (today, said.fanout(str::to_owned)),
        (best, said.fanout(tagged)),
    ] {
        // Counted as a server would: it also refuses what a client would split.
        let in_one_slot = 1.0 - fanout["crossslot"].float() / 500.0;
        assert_eq!(scheme["single_slot_share"], in_one_slot);
        let mean = fanout["nodes_per_batch"]["mean"].float();
        near(scheme["mean_nodes"].float(), mean, 1e-3);
    }
    assert_eq!(best["mean_nodes"], 1.0);
}
