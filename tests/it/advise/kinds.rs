//! The kinds of workloads on which the rules were made: users, tenants, series and what else keys are of.

use super::workload::{Right, Workload, change, each, uuid, word};
use crate::support::rng::Rng;

/// A kind: its name, and what makes a workload of it.
pub type Kind = (&'static str, fn(&mut Rng, f64) -> Workload);

/// All of them.
pub static KINDS: &[Kind] = &[
    ("shop", shop),
    ("tenant", tenant),
    ("series", series),
    ("series_day", series_day),
    ("social", social),
    ("counter", counter),
    ("three", three),
    ("sessions", sessions),
    ("already", already),
    ("conflict", conflict),
    ("hotkey", hotkey),
    ("small", small),
    ("company", company),
    ("words", words),
    ("uuids", uuids),
    ("names", names),
    ("blocker", blocker),
    ("tenant_names", tenant_names),
    ("fine_names", fine_names),
    ("global_mget", global_mget),
    ("global_eval", global_eval),
    ("few", few),
    ("ratelimit", ratelimit),
    ("bytes_user", bytes_user),
    ("hot_capture", hot_capture),
    ("padded", padded),
    ("shop_config", shop_config),
    ("dev12", dev12),
    ("chance_ids", chance_ids),
    ("day_job", day_job),
    ("collision", collision),
    ("rolling", rolling),
    ("growing", growing),
];

fn shop(rng: &mut Rng, noise: f64) -> Workload {
    let users = *rng.pick(&[600, 3000, 10_000]);
    let (step, from) = *rng.pick(&[(1, 1), (7, 11), (13, 100_000)]);
    let nodes = *rng.pick(&[3, 6]);
    let mut load = Workload::on(nodes, change(1.0, users));
    let keys = |user: usize| {
        let user = user * step + from;
        [
            format!("cart:{user}:items"),
            format!("user:{user}:profile"),
            format!("user:{user}:prefs"),
        ]
    };
    load.names((0..users).flat_map(keys));
    for _ in 0..2000 {
        let count = *rng.pick(&[2, 3, 3]);
        let keys = keys(rng.below(users));
        load.batch(rng.unit() < 0.3, keys[..count].to_vec());
    }
    load.noisy(rng, noise)
}

fn tenant(rng: &mut Rng, noise: f64) -> Workload {
    let documents: Vec<usize> = (1..=40).map(|rank| (9000 / rank + 5) / 3).collect();
    let keys = |tenant: usize, document: usize| {
        ["body", "meta", "acl"]
            .map(|part| format!("{{t{tenant}}}:doc:{document}:{part}"))
            .to_vec()
    };
    let mut load = Workload::on(9, change(1.0, documents.iter().sum()));
    for (tenant, count) in documents.iter().enumerate() {
        load.names((0..*count).flat_map(|document| keys(tenant, document)));
    }
    let total: usize = documents.iter().sum();
    for _ in 0..1500 {
        let mut at = rng.below(total);
        let tenant = documents.iter().position(|count| {
            let is_it = at < *count;
            at -= if is_it { 0 } else { *count };
            is_it
        });
        load.batch(rng.unit() < 0.2, keys(tenant.unwrap(), at));
    }
    load.noisy(rng, noise)
}

fn series(rng: &mut Rng, noise: f64) -> Workload {
    let (hosts, days) = (*rng.pick(&[400, 1500]), *rng.pick(&[14, 30]));
    let key = |day: usize, host: usize| {
        format!(
            "metric:{{2026{:02}{:02}}}:host{host}:cpu",
            1 + day / 28,
            1 + day % 28
        )
    };
    let mut load = Workload::on(6, change(1.0, hosts));
    load.names((0..days).flat_map(|day| (0..hosts).map(move |host| key(day, host))));
    for _ in 0..1500 {
        let (host, day) = (rng.below(hosts), rng.below(days - 3));
        load.soft((day..day + 3).map(|day| key(day, host)).collect());
    }
    load.noisy(rng, noise)
}

fn series_day(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, change(0.0, 10_000));
    load.names(
        (1..=20).flat_map(|day| (0..500).map(move |host| format!("m:{{2026-01-{day:02}}}:{host}"))),
    );
    (0..3000).for_each(|_| load.soft(vec![format!("m:{{2026-01-20}}:{}", rng.below(500))]));
    load
}

fn social(rng: &mut Rng, noise: f64) -> Workload {
    let users = *rng.pick(&[3000, 8000]);
    let mut load = Workload::on(6, Right::Keep);
    load.names(each(
        0..users,
        &[
            |user| format!("timeline:{user}"),
            |user| format!("follows:{user}"),
        ],
    ));
    for _ in 0..1500 {
        let followed = 3 + rng.below(28);
        // The more popular, the smaller the number.
        load.soft(
            (0..followed)
                .map(|_| format!("timeline:{}", (users as f64 * rng.unit().powi(4)) as usize))
                .collect(),
        );
    }
    load.noisy(rng, noise)
}

fn counter(rng: &mut Rng, _: f64) -> Workload {
    let count = *rng.pick(&[3000, 20_000]);
    let mut load = Workload::on(6, change(0.0, count));
    load.names(each(
        0..count / 3,
        &[
            |i| format!("{{stats}}:counter:views:{i}"),
            |i| format!("{{stats}}:counter:clicks:{i}"),
            |i| format!("{{stats}}:counter:buys:{i}"),
        ],
    ));
    load.names((0..count).map(|page| format!("page:{page}")));
    for _ in 0..1500 {
        let key = load.any(rng);
        load.soft(vec![key]);
    }
    load
}

fn three(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, change(1.0, 1200));
    let bills: Vec<[String; 3]> = (0..6000)
        .map(|i| {
            let (shop, customer, bill) = (rng.below(50), rng.below(1500), 100_000 + i);
            [
                format!("inv:{shop}:{customer}:{bill}"),
                format!("pay:{}:{customer}", bill % 997),
                format!("cust:{customer}"),
            ]
        })
        .collect();
    let mut names: Vec<String> = bills.concat();
    names.sort();
    names.dedup();
    load.names(names);
    for _ in 0..1500 {
        let [bill, pay, customer] = rng.pick(&bills).clone();
        let keys = rng
            .pick(&[[&bill, &customer], [&bill, &pay], [&pay, &customer]])
            .map(String::clone);
        load.batch(rng.one_in(2), keys.to_vec());
    }
    load.noisy(rng, noise)
}

fn sessions(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names(
        (0..12_000)
            .map(|_| format!("sess:{:016x}{:016x}", rng.next(), rng.next()))
            .collect::<Vec<_>>(),
    );
    for _ in 0..2000 {
        let key = load.any(rng);
        load.soft(vec![key]);
    }
    load
}

fn already(rng: &mut Rng, noise: f64) -> Workload {
    let users = *rng.pick(&[3000, 8000]);
    let keys = |user: usize| {
        vec![
            format!("cart:{{user:{user}}}:items"),
            format!("{{user:{user}}}:profile"),
        ]
    };
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..users).flat_map(keys));
    (0..1500).for_each(|_| load.batch(rng.one_in(2), keys(rng.below(users))));
    load.noisy(rng, noise)
}

fn conflict(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, change(0.66, 1500));
    let orders: Vec<(usize, usize)> = (0..8000).map(|i| (rng.below(2000), 50_000 + i)).collect();
    load.names(
        orders
            .iter()
            .map(|(user, order)| format!("order:{user}:{order}")),
    );
    load.names((0..2000).map(|user| format!("user:{user}")));
    load.names(orders.iter().map(|(_, order)| format!("ship:{order}")));
    for _ in 0..2000 {
        let (user, order) = *rng.pick(&orders);
        let other = if rng.unit() < 0.7 {
            format!("user:{user}")
        } else {
            format!("ship:{order}")
        };
        load.soft(vec![format!("order:{user}:{order}"), other]);
    }
    load.noisy(rng, noise)
}

fn hotkey(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..12_000).map(|item| format!("item:{item}")));
    for _ in 0..3000 {
        let item = if rng.unit() < 0.4 {
            77
        } else {
            rng.below(12_000)
        };
        load.soft(vec![format!("item:{item}")]);
    }
    (0..300).for_each(|_| {
        load.soft(vec![
            String::from("item:77"),
            format!("item:{}", rng.below(12_000)),
        ])
    });
    load
}

fn small(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..40).map(|i| format!("a:{i}:x")));
    load.names((0..60).map(|i| format!("b:{i}")));
    for _ in 0..400 {
        let keys = (0..3).map(|_| load.any(rng)).collect();
        load.soft(keys);
    }
    load
}

/// A user is a company: 30 % of the orders. Half of the batches are of an order, half of a user.
fn company(rng: &mut Rng, noise: f64) -> Workload {
    let orders: Vec<(usize, usize)> = (0..6000)
        .map(|i| {
            (
                if rng.unit() < 0.3 {
                    1
                } else {
                    2 + rng.below(2998)
                },
                10_000 + i,
            )
        })
        .collect();
    let key = |(user, order): (usize, usize), part: &str| format!("u:{user}:order:{order}:{part}");
    let mut load = Workload::on(6, change(0.5, 6000));
    load.names(
        orders
            .iter()
            .flat_map(|order| ["head", "lines"].map(|part| key(*order, part))),
    );
    for _ in 0..2000 {
        let order = *rng.pick(&orders);
        let others: Vec<_> = orders
            .iter()
            .filter(|other| other.0 == order.0 && other.1 != order.1)
            .collect();
        match others.is_empty() || rng.one_in(2) {
            true => load.soft(["head", "lines"].map(|part| key(order, part)).to_vec()),
            false => load.soft(vec![key(order, "head"), key(**rng.pick(&others), "head")]),
        }
    }
    load.noisy(rng, noise)
}

fn words(rng: &mut Rng, noise: f64) -> Workload {
    let count = *rng.pick(&[12, 30, 120]);
    let tenants: Vec<String> = (0..count)
        .map(|i| format!("{}{}", word(rng, 3), char::from(b'a' + (i % 26) as u8)))
        .collect();
    let users = 8000 / count;
    let keys = |tenant: &str, user: usize| {
        vec![
            format!("{tenant}:user:{user}:profile"),
            format!("{tenant}:user:{user}:prefs"),
            format!("{tenant}:cart:{user}"),
        ]
    };
    let mut load = Workload::on(6, change(1.0, 7000));
    load.names(
        tenants
            .iter()
            .flat_map(|tenant| (0..users).flat_map(move |user| keys(tenant, user))),
    );
    (0..1500).for_each(|_| load.soft(keys(rng.pick::<String>(&tenants), rng.below(users))));
    load.noisy(rng, noise)
}

fn uuids(rng: &mut Rng, noise: f64) -> Workload {
    let users: Vec<String> = (0..*rng.pick(&[2000, 6000])).map(|_| uuid(rng)).collect();
    let keys = |user: &str| {
        vec![
            format!("prod:order:{user}:head"),
            format!("prod:order:{user}:lines"),
            format!("prod:ship:{user}"),
        ]
    };
    let mut load = Workload::on(6, change(1.0, users.len()));
    load.names(users.iter().flat_map(|user| keys(user)));
    (0..1200).for_each(|_| load.hard(keys(rng.pick::<String>(&users))));
    load.noisy(rng, noise)
}

/// Names of users are words, some with digits.
fn names(rng: &mut Rng, noise: f64) -> Workload {
    let users: Vec<String> = (0..4000)
        .map(|_| {
            let len = 4 + rng.below(6);
            let name = word(rng, len);
            if rng.unit() < 0.3 {
                format!("{name}{}", rng.below(100))
            } else {
                name
            }
        })
        .collect();
    let keys = |user: &str| vec![format!("user:{user}:profile"), format!("cart:{user}")];
    let mut load = Workload::on(6, change(0.95, 4000));
    load.names(users.iter().flat_map(|user| keys(user)));
    (0..1500).for_each(|_| load.soft(keys(rng.pick::<String>(&users))));
    load.noisy(rng, noise)
}

fn blocker(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::KeepFor("config:flags"));
    load.names(each(
        0..4000,
        &[
            |user| format!("cart:{user}"),
            |user| format!("user:{user}:profile"),
        ],
    ));
    load.name(String::from("config:flags"));
    for _ in 0..1500 {
        let user = rng.below(4000);
        load.soft(vec![
            format!("cart:{user}"),
            format!("user:{user}:profile"),
            String::from("config:flags"),
        ]);
    }
    load
}

fn tenant_names(rng: &mut Rng, noise: f64) -> Workload {
    let load = tenant(rng, noise);
    let Right::Change { units, .. } = load.right else {
        return load;
    };
    Workload {
        batches: Vec::new(),
        right: change(0.0, units),
        ..load
    }
}

fn fine_names(_: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names(each(
        0..5000,
        &[
            |user| format!("user:{user}:a"),
            |user| format!("user:{user}:b"),
            |user| format!("user:{user}:c"),
        ],
    ));
    load
}

fn global(rng: &mut Rng, is_hard: bool) -> Workload {
    let count = *rng.pick(&[5000, 20_000]);
    let mut load = Workload::on(
        6,
        if is_hard {
            Right::Keep
        } else {
            change(0.0, count)
        },
    );
    load.names((0..count).map(|i| format!("{{app}}:obj:{i}")));
    for _ in 0..1000 {
        let keys = (0..5).map(|_| load.any(rng)).collect();
        load.batch(is_hard, keys);
    }
    load
}

fn global_mget(rng: &mut Rng, _: f64) -> Workload {
    global(rng, false)
}

fn global_eval(rng: &mut Rng, _: f64) -> Workload {
    global(rng, true)
}

fn few(rng: &mut Rng, _: f64) -> Workload {
    let mut load = shop(rng, 0.0);
    load.batches.truncate(60);
    Workload {
        right: Right::Keep,
        ..load
    }
}

fn ratelimit(rng: &mut Rng, noise: f64) -> Workload {
    let addresses: Vec<String> = (0..3000)
        .map(|_| {
            [1, 1, 1, 1]
                .map(|least: usize| (least + rng.below(254)).to_string())
                .join(".")
        })
        .collect();
    let key =
        |address: &str, minute: usize| format!("rl:{address}:{}", 1_717_269_600 + 60 * minute);
    let mut load = Workload::on(6, change(1.0, 3000));
    load.names(
        addresses
            .iter()
            .flat_map(|address| (0..5).map(move |minute| key(address, minute))),
    );
    for _ in 0..1500 {
        let (address, minute) = (rng.pick(&addresses).clone(), rng.below(4));
        load.soft(vec![key(&address, minute), key(&address, minute + 1)]);
    }
    load.noisy(rng, noise)
}

/// The files of one user are 30 % of the bytes; batches are of an album, or of a user.
fn bytes_user(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, change(0.55, 2200));
    let key = |user: usize, album: usize, part: &str| format!("u:{user}:album:{album}:{part}");
    let mut total = 0;
    for album in 0..4500 {
        for part in ["meta", "pic"] {
            let bytes = (7.0 + rng.normal()).exp() as u64 + 1;
            total += bytes;
            load.names.push((key(album / 3, 1000 + album, part), bytes));
        }
    }
    for album in 0..200 {
        for part in ["meta", "pic"] {
            load.names
                .push((key(0, 9000 + album, part), total * 43 / 40_000));
        }
    }
    for _ in 0..1600 {
        let album = rng.below(4500);
        match rng.unit() < 0.6 {
            true => load.soft(
                ["meta", "pic"]
                    .map(|part| key(album / 3, 1000 + album, part))
                    .to_vec(),
            ),
            false => load.soft(
                [0, 1]
                    .map(|other| key(album / 3, 1000 + album / 3 * 3 + other, "meta"))
                    .to_vec(),
            ),
        }
    }
    load.noisy(rng, noise)
}

/// One user has 30 % of the accesses, with tags or without.
fn hot_capture(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, change(1.0, 6000));
    load.names(each(
        0..6000,
        &[
            |user| format!("cart:{user}"),
            |user| format!("user:{user}:p"),
        ],
    ));
    for _ in 0..2000 {
        let user = if rng.unit() < 0.3 {
            17
        } else {
            rng.below(6000)
        };
        load.soft(vec![format!("cart:{user}"), format!("user:{user}:p")]);
    }
    load.noisy(rng, noise)
}

/// Numbers are equal, their bytes are not.
fn padded(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names(each(
        0..5000,
        &[
            |user| format!("cart:{user:08}"),
            |user| format!("user:{user}:p"),
        ],
    ));
    for _ in 0..1500 {
        let user = rng.below(5000);
        load.soft(vec![format!("cart:{user:08}"), format!("user:{user}:p")]);
    }
    load
}

/// Users without tags, and 900 flags in one tag that are read together now and then.
fn shop_config(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, change(0.88, 4000));
    load.names(each(
        0..4000,
        &[
            |user| format!("cart:{user}"),
            |user| format!("user:{user}:p"),
        ],
    ));
    load.names((0..900).map(|flag| format!("{{config}}:flag:{flag}")));
    for _ in 0..1500 {
        let user = rng.below(4000);
        load.soft(vec![format!("cart:{user}"), format!("user:{user}:p")]);
    }
    let mut load = load.noisy(rng, noise);
    (0..150).for_each(|_| {
        load.soft(
            (0..3)
                .map(|_| format!("{{config}}:flag:{}", rng.below(900)))
                .collect(),
        )
    });
    load.noisy(rng, 0.0)
}

/// Twelve users in the dump of a developer.
fn dev12(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..12).flat_map(|user| (0..800).map(move |order| format!("u:{user}:o:{order}"))));
    for _ in 0..1500 {
        let user = rng.below(12);
        load.soft(
            (0..3)
                .map(|_| format!("u:{user}:o:{}", rng.below(800)))
                .collect(),
        );
    }
    load.noisy(rng, noise)
}

/// Small ids are equal by chance.
fn chance_ids(rng: &mut Rng, _: f64) -> Workload {
    let count = *rng.pick(&[30, 100]);
    let mut load = Workload::on(6, Right::Keep);
    load.names(each(
        0..count,
        &[|i| format!("product:{i}"), |i| format!("user:{i}")],
    ));
    load.names((0..8000).map(|i| format!("log:{i}")));
    (0..2000).for_each(|_| {
        load.soft(vec![
            format!("product:{}", rng.below(count)),
            format!("user:{}", rng.below(count)),
        ])
    });
    load
}

/// A nightly job reads many hosts of one day: the day is no tag.
fn day_job(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names(
        (1..29).flat_map(|day| (0..300).map(move |host| format!("m:202601{day:02}:{host}"))),
    );
    for _ in 0..1000 {
        let day = 1 + rng.below(28);
        load.soft(
            (0..20)
                .map(|_| format!("m:202601{day:02}:{}", rng.below(300)))
                .collect(),
        );
    }
    load.noisy(rng, noise)
}

/// Some of the new names exist already.
fn collision(rng: &mut Rng, noise: f64) -> Workload {
    let keys = |i: usize| vec![format!("cart:{i}:a"), format!("cart:{i}:b")];
    let mut load = Workload::on(6, change(1.0, 3000));
    load.names((0..3000).flat_map(keys));
    (0..1500).for_each(|_| load.soft(keys(rng.below(3000))));
    let mut load = load.noisy(rng, noise);
    load.names((0..50).map(|i| format!("{{cart:{i}}}:a")));
    load
}

/// A partition number that grows: today's is hot, and over all of the capture it looks even.
fn rolling(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, change(0.66, 8000));
    let key = |partition: usize, i: usize, part: char| format!("evt:{partition}:{i}:{part}");
    load.names((0..80).flat_map(|partition| {
        (0..100).flat_map(move |i| ['a', 'b'].map(|part| key(partition, i, part)))
    }));
    for time in 0..4000 {
        let (partition, i) = (time * 80 / 4000, rng.below(100));
        let other = if rng.unit() < 0.7 {
            key(partition, i, 'b')
        } else {
            key(partition, (i + 7) % 100, 'a')
        };
        load.soft(vec![key(partition, i, 'a'), other]);
    }
    load
}

/// Order numbers grow with time, and are a good tag.
fn growing(rng: &mut Rng, _: f64) -> Workload {
    let keys = |order: usize| {
        vec![
            format!("order:{order}:head"),
            format!("order:{order}:lines"),
            format!("pay:{order}"),
        ]
    };
    let mut load = Workload::on(6, change(1.0, 5000));
    load.names((500_000..505_000).flat_map(keys));
    for time in 0..4000 {
        let order = (500_000 + time * 5000 / 4000 + rng.below(3)).min(504_999);
        load.batch(rng.one_in(2), keys(order));
    }
    load
}
