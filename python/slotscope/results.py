"""The types of results, for type checkers: the JSON of the commands, generated from docs/schema (tests/python/results.py).

At run time each is a dict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

__all__ = [
    "Actor",
    "Advice",
    "AdviseResult",
    "After",
    "Balance",
    "Bands",
    "BatchKind",
    "BlockingKey",
    "Cause",
    "CauseKind",
    "Change",
    "ChangeOfDouble",
    "ChangeOfUint",
    "ChangeOfUint64",
    "Damage",
    "DiffResult",
    "Evidence",
    "FamilyAdvice",
    "FileFacts",
    "Filtered",
    "Finding",
    "FindingKind",
    "FirstKey",
    "FloorKind",
    "FloorUnit",
    "FullestNode",
    "GoalOutcome",
    "Hot",
    "HotKind",
    "Incomplete",
    "InputFacts",
    "Integrity",
    "KeepReason",
    "Left",
    "Limit",
    "LineBy",
    "Lost",
    "Measure",
    "Metric",
    "MoveOutcome",
    "Names",
    "NodeChange",
    "NodeFigures",
    "NodeOutcome",
    "ObjectFacts",
    "OldNewOfDouble",
    "OldNewOfUint64",
    "PlanResult",
    "Reason",
    "Rejected",
    "RejectedLine",
    "Requested",
    "RequestedRole",
    "Role",
    "RoleAfter",
    "RoleVerdict",
    "SchemeScore",
    "Severity",
    "Side",
    "SideNode",
    "Sizes",
    "Soundness",
    "SplitTags",
    "State",
    "States",
    "Step",
    "StepKind",
    "Tag",
    "UnreadableValues",
    "Verdict",
    "VerdictChange",
    "WhatIfResult",
    "Words",
]


Actor = Literal["operator", "application"]


Advice = Literal["change", "keep"]


class AdviseResult(TypedDict):
    advice: Advice
    batches: int
    batches_of_several: int
    batches_that_must: int
    batches_uncounted: int
    by: Metric
    collided: bool
    evidence: Evidence
    families: List[FamilyAdvice]
    families_unscored: int
    keys: int
    kinds: List[BatchKind]
    names_sampled: float
    names_unmatched: int
    nodes: int
    one_batch_of: int
    rules: List[str]
    rules_differ: int
    schema: str
    schemes: List[SchemeScore]
    together_unmet: int
    why: KeepReason | None


class After(TypedDict):
    keys: NotRequired[RoleAfter | None]
    load: NotRequired[RoleAfter | None]
    memory: NotRequired[RoleAfter | None]


class Balance(TypedDict):
    cv: float | None
    empty: int
    gini: float | None
    max: int
    max_over_mean: float | None
    mean: float
    min: int
    p50: int
    p90: int
    p99: int
    p999: int


class Bands(TypedDict):
    lower: float
    upper: float


class BatchKind(TypedDict):
    batches: int
    command: str | None
    keys: List[str]
    mean_keys: float
    must_be_together: bool
    slots_then: float
    slots_today: float


class BlockingKey(TypedDict):
    block_ms: int
    bytes: int | None
    elements: int | None
    key: str
    slot: int


class Cause(TypedDict):
    by_chance: NotRequired[float | None]
    excess: float
    fair_shares: NotRequired[float | None]
    key: NotRequired[str | None]
    kind: CauseKind
    max_over_mean_without: float | None
    name: str | None
    names: NotRequired[List[str]]
    node: str | None
    share: NotRequired[float | None]
    slots: NotRequired[List[int]]
    units: NotRequired[int | None]


CauseKind = Literal["slots", "tag", "key", "channel", "coarse_units", "elsewhere", "collisions", "chance", "unknown"]


class Change(TypedDict):
    accesses: NotRequired[OldNewOfUint64]
    at_least: int
    bytes: NotRequired[OldNewOfUint64]
    cpu: NotRequired[OldNewOfUint64]
    keys: OldNewOfUint64
    name: str
    ops: NotRequired[OldNewOfUint64]
    share: OldNewOfDouble


class ChangeOfDouble(TypedDict):
    after: float
    before: float


class ChangeOfUint(TypedDict):
    after: int
    before: int


class ChangeOfUint64(TypedDict):
    after: int
    before: int


Damage = Literal["incomplete", "missing_node", "empty_server", "truncated", "duplicates", "foreign", "mixed"]


class DiffResult(TypedDict):
    estimated: bool
    hot: List[Hot]
    new: str
    nodes: List[NodeChange]
    notes: List[str]
    old: str
    patterns: NotRequired[Names | None]
    prefixes: NotRequired[Names | None]
    schema: str
    sentence: str
    tags: NotRequired[Names | None]
    totals: Dict[str, Any]
    verdict: VerdictChange


Evidence = Literal["names_alone", "few_batches", "batches"]


class FamilyAdvice(TypedDict):
    accesses: int
    becomes: str | None
    keys: int
    load_share: float
    pattern: str


class FileFacts(TypedDict):
    bytes: int
    first: NotRequired[FirstKey | None]
    format: str
    in_cluster: NotRequired[bool]
    keys: int
    line: NotRequired[str | None]
    line_by: NotRequired[LineBy | None]
    name: str
    object: NotRequired[ObjectFacts | None]
    shape: NotRequired[str]
    written: NotRequired[int | None]


class Filtered(TypedDict):
    bytes: NotRequired[int | None]
    flags: str
    keys: int
    operations: int


class Finding(TypedDict):
    id: str
    key: str | None
    kind: FindingKind
    limit_use: float | None
    metric: Measure | None
    node: str | None
    pattern: str | None
    role: Role | None
    sentence: str
    severity: Severity
    slot: int | None
    state: State | None
    steps: List[int]
    tag: str | None
    value: float | None


FindingKind = Literal["down", "near_limit", "suspicious", "skew", "evicting", "growth", "suspected", "open_slot", "expiry", "refused", "big_key", "hot_key", "coarse_tag", "no_replica", "empty_node", "sizes_unknown", "load_unknown", "no_limit"]


class FirstKey(TypedDict):
    key: str
    size: NotRequired[int | None]


FloorKind = Literal["slot", "slots", "tag", "key"]


class FloorUnit(TypedDict):
    kind: FloorKind
    name: str
    share: float | None
    slot: int | None


class FullestNode(TypedDict):
    limit_use: float | None
    max_over_mean: float
    node: str


class GoalOutcome(TypedDict):
    after: float
    before: float
    ceiling: NotRequired[float | None]
    guard: NotRequired[bool]
    limit: NotRequired[Limit | None]
    met: bool
    metric: Metric
    of_servers: NotRequired[bool]
    reason: str | None
    rest_after: float
    rest_before: float
    role: NotRequired[Role | None]
    target: float


class Hot(TypedDict):
    kind: HotKind
    name: str
    share: OldNewOfDouble


HotKind = Literal["node", "slot", "tag"]


class Incomplete(TypedDict):
    byte: int
    file: str
    reason: str


class InputFacts(TypedDict):
    bytes_read: int
    duplicate_share: NotRequired[float | None]
    duplicate_share_exact: bool
    error_lines: int
    estimated_above: NotRequired[int | None]
    files: List[FileFacts]
    filter: NotRequired[Filtered | None]
    incomplete: List[Incomplete]
    keys: int
    notes: List[str]
    policy: NotRequired[str | None]
    rejected: Rejected
    sample_percent: NotRequired[float | None]
    sizes: NotRequired[Sizes | None]
    unreadable_values: NotRequired[List[UnreadableValues]]
    warnings: List[str]
    weights: Dict[str, Any]
    written: NotRequired[int | None]


class Integrity(TypedDict):
    kind: Damage
    node: str | None
    sentence: str


KeepReason = Literal["names_are_fine", "few_batches", "already_good", "single_keys", "hot_key", "must_stay_together", "few_values", "no_common_id"]


class Left(TypedDict):
    max_over_mean: float
    reason: str
    role: str
    units: List[str]


Limit = Literal["maxmemory"]


LineBy = Literal["given", "header", "found"]


Lost = Literal["size", "operations", "expiry", "database", "command", "other"]


Measure = Literal["bytes", "used_memory", "keys", "cpu", "ops", "accesses", "commands"]


Metric = Literal["keys", "bytes", "ops", "accesses", "cpu"]


MoveOutcome = TypedDict(
    "MoveOutcome",
    {
        "accesses": "NotRequired[int | None]",
        "bytes": "NotRequired[int | None]",
        "cpu": "NotRequired[int | None]",
        "from": "str",
        "keys": "int | None",
        "ops": "NotRequired[int | None]",
        "ranges": "List[List[int]]",
        "slots": "int",
        "to": "str",
    },
)


class Names(TypedDict):
    appeared: List[Change]
    below_the_list: List[Change]
    grew: List[Change]
    shrank: List[Change]
    vanished: List[Change]


class NodeChange(TypedDict):
    accesses: NotRequired[OldNewOfUint64]
    bytes: NotRequired[OldNewOfUint64]
    cpu: NotRequired[OldNewOfUint64]
    id: str
    keys: OldNewOfUint64
    name: NotRequired[str | None]
    ops: NotRequired[OldNewOfUint64]
    over_fair: OldNewOfDouble
    slots: OldNewOfUint64


NodeFigures = TypedDict(
    "NodeFigures",
    {
        "2n": "float",
        "n": "float",
    },
)


class NodeOutcome(TypedDict):
    accesses: NotRequired[ChangeOfUint64 | None]
    address: str | None
    bytes: NotRequired[ChangeOfUint64 | None]
    cpu: NotRequired[ChangeOfUint64 | None]
    failed: NotRequired[bool]
    hostname: NotRequired[str | None]
    id: str
    keys: ChangeOfUint64 | None
    ops: NotRequired[ChangeOfUint64 | None]
    over_fair: ChangeOfDouble | None
    slots: ChangeOfUint
    weight: float


class ObjectFacts(TypedDict):
    answered_by: NotRequired[str | None]
    etag: NotRequired[str | None]
    size_bytes: int


class OldNewOfDouble(TypedDict):
    change: float | None
    new: float | None
    old: float | None
    ratio: float | None


class OldNewOfUint64(TypedDict):
    change: float | None
    new: int | None
    old: int | None
    ratio: float | None


class PlanResult(TypedDict):
    after: Dict[str, Balance]
    before: Dict[str, Balance]
    big_keys: List[BlockingKey]
    bytes_moved: int | None
    estimated_secs: float
    floor: Dict[str, float]
    floor_unit: FloorUnit | None
    goals: List[GoalOutcome]
    keys_moved: int | None
    least_bytes: int | None
    limited: bool
    longest_block_ms: int | None
    moves: List[MoveOutcome]
    nodes: List[NodeOutcome]
    pinned: List[BlockingKey]
    request: Requested
    schema: str
    slots_moved: int
    warnings: List[str]


Reason = Literal["idle", "too_few", "not_seen", "capped", "counters", "unreadable", "missing", "outside_slots", "moving"]


class Rejected(TypedDict):
    count: int
    first: List[RejectedLine]


class RejectedLine(TypedDict):
    byte: int
    file: str
    line: int | None
    reason: str


class Requested(TypedDict):
    before: After
    caps: NotRequired[List[int | None]]
    changes_nodes: bool
    lifted: List[str]
    nodes: int
    placement: str
    relief: NotRequired[bool]
    roles: List[RequestedRole]


class RequestedRole(TypedDict):
    aim: float
    ceiling: float
    is_goal: bool
    metric: str


Role = Literal["memory", "load"]


class RoleAfter(TypedDict):
    max_over_mean: float
    rest: float
    state: State


class RoleVerdict(TypedDict):
    bands: Bands
    causes: List[Cause]
    compared: int
    estimated: bool
    floor: float | None
    fullest: FullestNode | None
    judged: bool
    metric: Measure
    n_eff: float | None
    n_eff_error: float
    reason: Reason | None
    role: Role | None
    sentence: str
    span_secs: float | None
    state: State
    usable_capacity: float | None


class SchemeScore(TypedDict):
    crossslot: int
    distinct_tags: int
    heaviest: str
    heaviest_is_tag: bool
    heaviest_share: float
    is_today: bool
    keys_renamed: int
    max_over_mean: NodeFigures
    mean_nodes: float | None
    monotonic: bool
    must_share: float | None
    patterns_renamed: int
    single_slot_share: float | None
    sound: Soundness
    tags: List[str]


Severity = Literal["notice", "warning", "critical"]


class Side(TypedDict):
    fullest_share: float | None
    keys: int
    list: List[SideNode]
    node_count: int
    nodes: Balance
    policy: str
    slots: Balance
    source: str
    verdict: Verdict


class SideNode(TypedDict):
    accesses: NotRequired[int]
    bytes: NotRequired[int]
    cpu: NotRequired[int]
    id: str
    keys: int
    node: str
    ops: NotRequired[int]


Sizes = Literal["memory", "serialized"]


Soundness = Literal["good", "limited", "bad"]


class SplitTags(TypedDict):
    exact: bool
    split: int
    tags: int


State = Literal["empty", "balanced", "unjudged", "watch", "skewed", "suspicious", "limit", "down"]


class States(TypedDict):
    new: State
    old: State


class Step(TypedDict):
    after: After
    alone: NotRequired[After | None]
    alternatives: NotRequired[List[Step]]
    by: Actor
    bytes_moved: int | None
    command: str | None
    estimated: bool
    findings: List[str]
    keys_moved: int | None
    kind: StepKind
    longest_block_ms: float | None
    request: NotRequired[Requested | None]
    sentence: str
    slots_moved: int
    until: int | None


StepKind = Literal["repair", "take_again", "measure", "free", "move", "split", "untag", "choose_tags", "rename_tags", "cache", "add_nodes"]


class Tag(TypedDict):
    accesses: NotRequired[int]
    accesses_error: NotRequired[int]
    bytes: NotRequired[int]
    bytes_error: NotRequired[int]
    cpu: NotRequired[int]
    cpu_error: NotRequired[int]
    keys: int
    keys_error: int
    node: str | None
    ops: NotRequired[int]
    ops_error: NotRequired[int]
    share: float
    slot: int
    tag: str


class UnreadableValues(TypedDict):
    count: int
    first: RejectedLine
    role: Lost


class Verdict(TypedDict):
    actionable: bool
    assumed: bool
    findings: List[Finding]
    integrity: List[Integrity]
    keys_known: bool
    left: List[Left]
    memory_known: bool
    roles: List[RoleVerdict]
    sentence: str
    severity: Severity | None
    state: State
    steps: List[Step]
    word: str


class VerdictChange(TypedDict):
    by: Metric
    max_over_mean: OldNewOfDouble
    overall: States
    slot_cv: OldNewOfDouble
    slot_gini: OldNewOfDouble
    slot_max_over_mean: OldNewOfDouble
    state: States
    words: Words


class WhatIfResult(TypedDict):
    after: Side
    before: Side
    by: Metric
    changed_node: Dict[str, Any]
    input: InputFacts
    maxmemory: NotRequired[int | None]
    moved: Dict[str, Any]
    parted_tags: int
    renamed: int
    schema: str
    sentence: str
    tag_sample: SplitTags
    top_tags: List[Tag]
    unplaced: Dict[str, Any]
    without_keys: List[str]


class Words(TypedDict):
    new: str
    old: str
