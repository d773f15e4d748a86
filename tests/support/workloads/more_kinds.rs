//! More of those kinds: names that are words, tags for everything, hot users, and apparent joins.

use super::kinds::{shop, tenant};
use super::workload::{Right, Workload, change, keys};
use crate::rng::Rng;

pub fn blocker(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..4000).flat_map(|user| keys("cart:# user:#:profile", user)));
    load.name(String::from("config:flags"));
    for _ in 0..1500 {
        load.soft(keys("cart:# user:#:profile config:flags", rng.below(4000)));
    }
    load
}

pub fn tenant_names(rng: &mut Rng, noise: f64) -> Workload {
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

pub fn fine_names(_: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..5000).flat_map(|user| keys("user:#:a user:#:b user:#:c", user)));
    load
}

fn global(rng: &mut Rng, is_hard: bool) -> Workload {
    let count = *rng.pick(&[5000, 20_000]);
    let right = [change(0.0, count), Right::Keep][usize::from(is_hard)];
    let mut load = Workload::on(6, right);
    load.names((0..count).map(|i| format!("{{app}}:obj:{i}")));
    for _ in 0..1000 {
        let keys = (0..5).map(|_| load.any(rng)).collect();
        load.batch(is_hard, keys);
    }
    load
}

pub fn global_mget(rng: &mut Rng, _: f64) -> Workload {
    global(rng, false)
}

pub fn global_eval(rng: &mut Rng, _: f64) -> Workload {
    global(rng, true)
}

pub fn few(rng: &mut Rng, _: f64) -> Workload {
    let mut load = shop(rng, 0.0);
    load.batches.truncate(60);
    Workload {
        right: Right::Keep,
        ..load
    }
}

pub fn ratelimit(rng: &mut Rng, noise: f64) -> Workload {
    let mut address = |_| [(); 4].map(|()| (1 + rng.below(254)).to_string()).join(".");
    let addresses: Vec<String> = (0..3000).map(&mut address).collect();
    let key =
        |address: &str, minute: usize| format!("rl:{address}:{}", 1_717_269_600 + 60 * minute);
    let mut load = Workload::on(6, change(1.0, 3000));
    for address in &addresses {
        load.names((0..5).map(|minute| key(address, minute)));
    }
    for _ in 0..1500 {
        let (address, minute) = (rng.pick(&addresses).clone(), rng.below(4));
        load.soft(vec![key(&address, minute), key(&address, minute + 1)]);
    }
    load.noisy(rng, noise)
}

/// The files of one user are 30% of the bytes; batches belong to an album or a user.
pub fn bytes_user(rng: &mut Rng, noise: f64) -> Workload {
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
    for album in 9000..9200 {
        let of_one = ["meta", "pic"].map(|part| (key(0, album, part), total * 43 / 40_000));
        load.names.extend(of_one);
    }
    for _ in 0..1600 {
        let album = rng.below(4500);
        let (user, first) = (album / 3, 1000 + album / 3 * 3);
        let keys = match rng.unit() {
            0.0..0.6 => ["meta", "pic"].map(|part| key(user, 1000 + album, part)),
            _ => [0, 1].map(|other| key(user, first + other, "meta")),
        };
        load.soft(keys.to_vec());
    }
    load.noisy(rng, noise)
}

/// One user has 30% of the accesses, with tags or without.
pub fn hot_capture(rng: &mut Rng, noise: f64) -> Workload {
    let of = |user: usize| keys("cart:# user:#:p", user);
    let mut load = Workload::on(6, change(1.0, 6000));
    load.names((0..6000).flat_map(of));
    for _ in 0..2000 {
        let is_hot = rng.unit() < 0.3;
        load.soft(of(if is_hot { 17 } else { rng.below(6000) }));
    }
    load.noisy(rng, noise)
}

/// The numbers are equal, but not their bytes.
pub fn padded(rng: &mut Rng, _: f64) -> Workload {
    let of = |user: usize| [format!("cart:{user:08}"), format!("user:{user}:p")];
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..5000).flat_map(of));
    (0..1500).for_each(|_| load.soft(of(rng.below(5000)).to_vec()));
    load
}

/// Users without tags, and 900 flags in one tag that are occasionally read together.
pub fn shop_config(rng: &mut Rng, noise: f64) -> Workload {
    let of = |user: usize| keys("cart:# user:#:p", user);
    let flag = |flag: usize| format!("{{config}}:flag:{flag}");
    let mut load = Workload::on(6, change(0.88, 4000));
    load.names((0..4000).flat_map(of));
    load.names((0..900).map(flag));
    (0..1500).for_each(|_| load.soft(of(rng.below(4000))));
    let mut load = load.noisy(rng, noise);
    (0..150).for_each(|_| load.soft((0..3).map(|_| flag(rng.below(900))).collect()));
    load.noisy(rng, 0.0)
}

/// A developer's dump with twelve users.
pub fn dev12(rng: &mut Rng, noise: f64) -> Workload {
    let key = |user: usize, order: usize| format!("u:{user}:o:{order}");
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..12).flat_map(|user| (0..800).map(move |order| key(user, order))));
    for _ in 0..1500 {
        let user = rng.below(12);
        load.soft((0..3).map(|_| key(user, rng.below(800))).collect());
    }
    load.noisy(rng, noise)
}

/// Small ids are equal by chance.
pub fn chance_ids(rng: &mut Rng, _: f64) -> Workload {
    let count = *rng.pick(&[30, 100]);
    let mut load = Workload::on(6, Right::Keep);
    load.names((0..count).flat_map(|i| keys("product:# user:#", i)));
    load.names((0..8000).map(|i| format!("log:{i}")));
    for _ in 0..2000 {
        let [product, user] = [(); 2].map(|()| rng.below(count));
        load.soft([keys("product:#", product), keys("user:#", user)].concat());
    }
    load
}

/// A nightly job reads many hosts of one day: the day is not a tag.
pub fn day_job(rng: &mut Rng, noise: f64) -> Workload {
    let key = |day: usize, host: usize| format!("m:202601{day:02}:{host}");
    let mut load = Workload::on(6, Right::Keep);
    load.names((1..29).flat_map(|day| (0..300).map(move |host| key(day, host))));
    for _ in 0..1000 {
        let day = 1 + rng.below(28);
        load.soft((0..20).map(|_| key(day, rng.below(300))).collect());
    }
    load.noisy(rng, noise)
}

/// Some of the new names exist already.
pub fn collision(rng: &mut Rng, noise: f64) -> Workload {
    let of = |cart: usize| keys("cart:#:a cart:#:b", cart);
    let mut load = Workload::on(6, change(1.0, 3000));
    load.names((0..3000).flat_map(of));
    (0..1500).for_each(|_| load.soft(of(rng.below(3000))));
    let mut load = load.noisy(rng, noise);
    load.names((0..50).map(|i| format!("{{cart:{i}}}:a")));
    load
}

/// A growing partition number: today's is hot, but over the whole capture the load looks even.
pub fn rolling(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, change(0.66, 8000));
    let key = |partition: usize, i: usize, part: char| format!("evt:{partition}:{i}:{part}");
    load.names((0..80).flat_map(|partition| {
        (0..100).flat_map(move |i| ['a', 'b'].map(|part| key(partition, i, part)))
    }));
    for time in 0..4000 {
        let (partition, i) = (time * 80 / 4000, rng.below(100));
        let other = match rng.unit() {
            0.0..0.7 => key(partition, i, 'b'),
            _ => key(partition, (i + 7) % 100, 'a'),
        };
        load.soft(vec![key(partition, i, 'a'), other]);
    }
    load
}

/// Order numbers grow with time, and are a good tag.
pub fn growing(rng: &mut Rng, _: f64) -> Workload {
    let of = |order: usize| keys("order:#:head order:#:lines pay:#", order);
    let mut load = Workload::on(6, change(1.0, 5000));
    load.names((500_000..505_000).flat_map(of));
    for time in 0..4000 {
        let order = (500_000 + time * 5000 / 4000 + rng.below(3)).min(504_999);
        load.batch(rng.one_in(2), of(order));
    }
    load
}
