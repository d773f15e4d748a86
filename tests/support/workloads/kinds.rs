//! The kinds of workloads that the rules were developed on: users, tenants, series and other subjects of keys.

use super::more_kinds;
use super::workload::{Right, Workload, change, keys, word};
use crate::rng::Rng;

/// A kind: its name, and the function that generates a workload.
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
    ("blocker", more_kinds::blocker),
    ("tenant_names", more_kinds::tenant_names),
    ("fine_names", more_kinds::fine_names),
    ("global_mget", more_kinds::global_mget),
    ("global_eval", more_kinds::global_eval),
    ("few", more_kinds::few),
    ("ratelimit", more_kinds::ratelimit),
    ("bytes_user", more_kinds::bytes_user),
    ("hot_capture", more_kinds::hot_capture),
    ("padded", more_kinds::padded),
    ("shop_config", more_kinds::shop_config),
    ("dev12", more_kinds::dev12),
    ("chance_ids", more_kinds::chance_ids),
    ("day_job", more_kinds::day_job),
    ("collision", more_kinds::collision),
    ("rolling", more_kinds::rolling),
    ("growing", more_kinds::growing),
];

pub fn shop(rng: &mut Rng, noise: f64) -> Workload {
    let users = *rng.pick(&[600, 3000, 10_000]);
    let (step, from) = *rng.pick(&[(1, 1), (7, 11), (13, 100_000)]);
    let nodes = *rng.pick(&[3, 6]);
    let mut load = Workload::on(nodes, change(1.0, users));
    let names = "cart:#:items user:#:profile user:#:prefs";
    let of = |user: usize| keys(names, user * step + from);
    load.names((0..users).flat_map(of));
    for _ in 0..2000 {
        let count = *rng.pick(&[2, 3, 3]);
        let keys = of(rng.below(users));
        load.batch(rng.unit() < 0.3, keys[..count].to_vec());
    }
    load.noisy(rng, noise)
}

pub fn tenant(rng: &mut Rng, noise: f64) -> Workload {
    let documents: Vec<usize> = (1..=40).map(|rank| (9000 / rank + 5) / 3).collect();
    let names = |tenant| {
        format!("{{t{tenant}}}:doc:#:body {{t{tenant}}}:doc:#:meta {{t{tenant}}}:doc:#:acl")
    };
    let keys = |tenant: usize, document: usize| keys(&names(tenant), document);
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
        let (month, day) = (1 + day / 28, 1 + day % 28);
        format!("metric:{{2026{month:02}{day:02}}}:host{host}:cpu")
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
    let key = |day: usize, host: usize| format!("m:{{2026-01-{day:02}}}:{host}");
    load.names((1..=20).flat_map(|day| (0..500).map(move |host| key(day, host))));
    (0..3000).for_each(|_| load.soft(vec![format!("m:{{2026-01-20}}:{}", rng.below(500))]));
    load
}

fn social(rng: &mut Rng, noise: f64) -> Workload {
    let users = *rng.pick(&[3000, 8000]);
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..users).flat_map(|user| keys("timeline:# follows:#", user)));
    for _ in 0..1500 {
        let followed = 3 + rng.below(28);
        // Smaller numbers are more popular.
        let mut popular = || (users as f64 * rng.unit().powi(4)) as usize;
        let timelines = (0..followed).map(|_| format!("timeline:{}", popular()));
        load.soft(timelines.collect());
    }
    load.noisy(rng, noise)
}

fn counter(rng: &mut Rng, _: f64) -> Workload {
    let count = *rng.pick(&[3000, 20_000]);
    let mut load = Workload::on(6, change(0.0, count));
    let of = "{stats}:counter:views:# {stats}:counter:clicks:# {stats}:counter:buys:#";
    load.names((0..count / 3).flat_map(|i| keys(of, i)));
    load.names((0..count).map(|page| format!("page:{page}")));
    for _ in 0..1500 {
        let key = load.any(rng);
        load.soft(vec![key]);
    }
    load
}

fn three(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, change(1.0, 1200));
    let mut bill = |i| {
        let (shop, customer, bill) = (rng.below(50), rng.below(1500), 100_000 + i);
        [
            format!("inv:{shop}:{customer}:{bill}"),
            format!("pay:{}:{customer}", bill % 997),
            format!("cust:{customer}"),
        ]
    };
    let bills: Vec<[String; 3]> = (0..6000).map(&mut bill).collect();
    let mut names: Vec<String> = bills.concat();
    names.sort();
    names.dedup();
    load.names(names);
    for _ in 0..1500 {
        let [bill, pay, customer] = rng.pick(&bills).clone();
        let pairs = [[&bill, &customer], [&bill, &pay], [&pay, &customer]];
        let keys = rng.pick(&pairs).map(String::clone);
        load.batch(rng.one_in(2), keys.to_vec());
    }
    load.noisy(rng, noise)
}

fn sessions(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..12_000).map(|_| format!("sess:{:016x}{:016x}", rng.next(), rng.next())));
    for _ in 0..2000 {
        let key = load.any(rng);
        load.soft(vec![key]);
    }
    load
}

fn already(rng: &mut Rng, noise: f64) -> Workload {
    let users = *rng.pick(&[3000, 8000]);
    let of = |user: usize| keys("cart:{user:#}:items {user:#}:profile", user);
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..users).flat_map(of));
    (0..1500).for_each(|_| load.batch(rng.one_in(2), of(rng.below(users))));
    load.noisy(rng, noise)
}

fn conflict(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, change(0.66, 1500));
    let orders: Vec<(usize, usize)> = (0..8000).map(|i| (rng.below(2000), 50_000 + i)).collect();
    let order = |(user, order): &(usize, usize)| format!("order:{user}:{order}");
    load.names(orders.iter().map(order));
    load.names((0..2000).map(|user| format!("user:{user}")));
    load.names(orders.iter().map(|(_, order)| format!("ship:{order}")));
    for _ in 0..2000 {
        let picked = *rng.pick(&orders);
        let other = match rng.unit() {
            0.0..0.7 => format!("user:{}", picked.0),
            _ => format!("ship:{}", picked.1),
        };
        load.soft(vec![order(&picked), other]);
    }
    load.noisy(rng, noise)
}

fn hotkey(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..12_000).map(|item| format!("item:{item}")));
    for _ in 0..3000 {
        let is_hot = rng.unit() < 0.4;
        load.soft(keys("item:#", if is_hot { 77 } else { rng.below(12_000) }));
    }
    (0..300).for_each(|_| load.soft(keys("item:77 item:#", rng.below(12_000))));
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

/// A company that is one user: 30% of the orders. Half of the batches belong to an order, half to a user.
fn company(rng: &mut Rng, noise: f64) -> Workload {
    let order = |rng: &mut Rng, i: usize| {
        let is_of_one = rng.unit() < 0.3;
        (if is_of_one { 1 } else { 2 + rng.below(2998) }, 10_000 + i)
    };
    let orders: Vec<(usize, usize)> = (0..6000).map(|i| order(rng, i)).collect();
    let key = |(user, order): (usize, usize), part: &str| format!("u:{user}:order:{order}:{part}");
    let whole = |order: &(usize, usize)| ["head", "lines"].map(|part| key(*order, part));
    let mut load = Workload::on(6, change(0.5, 6000));
    load.names(orders.iter().flat_map(whole));
    for _ in 0..2000 {
        let order = *rng.pick(&orders);
        let is_other = |other: &&(usize, usize)| other.0 == order.0 && other.1 != order.1;
        let others: Vec<_> = orders.iter().filter(is_other).collect();
        if others.is_empty() || rng.one_in(2) {
            load.soft(whole(&order).to_vec())
        } else {
            load.soft(vec![key(order, "head"), key(**rng.pick(&others), "head")])
        }
    }
    load.noisy(rng, noise)
}

fn words(rng: &mut Rng, noise: f64) -> Workload {
    let count = *rng.pick(&[12, 30, 120]);
    let mut tenant = |i| format!("{}{}", word(rng, 3), char::from(b'a' + (i % 26) as u8));
    let tenants: Vec<String> = (0..count).map(&mut tenant).collect();
    let users = 8000 / count;
    let names = |of: &str| format!("{of}:user:#:profile {of}:user:#:prefs {of}:cart:#");
    let keys = |tenant: &str, user: usize| keys(&names(tenant), user);
    let mut load = Workload::on(6, change(1.0, 7000));
    for tenant in &tenants {
        load.names((0..users).flat_map(|user| keys(tenant, user)));
    }
    (0..1500).for_each(|_| load.soft(keys(rng.pick::<String>(&tenants), rng.below(users))));
    load.noisy(rng, noise)
}
