import { chosenEngine } from '#scanner/yara/choose-engine.ts';
import type { CompiledRules, EngineKind } from '#scanner/yara/rule-engine.ts';
import { hostileUnits, isWalked } from './hostile-text.ts';
import { compileSource } from './rules.ts';
import { parseYara, type YaraRule } from './yara-source.ts';

// The speed of a rule on the text that is worst for it. The measure is the ratio to other rules in the same process: machines
// differ.

/** A rule on the text that it is slowest on. `shape` describes that text. */
export interface RuleSpeed {
  rule: string;
  bytes_per_ms: number;
  shape: string;
  /** The repeated text, as Latin-1. */
  unit: string;
}

/** A rule that this much slower than the median of its peers is refused. */
export const SLOWER_MAXIMUM = 10;
/** Long enough that one scan costs more than calling for it, short enough that a slow rule is seen soon. A call of the WebAssembly engine costs as much as some 64 KB. Bytes. */
const TEXT_BYTES: Readonly<Record<EngineKind, number>> = { native: 4096, wasm: 65_536 };
/** A rule that is slow at first is timed again, by the processor's time, for this long. The kernel may count that in steps of 10 ms. */
const CONFIRM_CPU_MS = 120;
const CONFIRM_WALL_MS = 3_000;
/** The slowest texts of a first look: on a busy machine the very slowest may be chance. */
const CONFIRMED_TEXTS = 3;
/** YARA-X searches for patterns when a condition first needs one: a condition that begins with a file's size would never need its own. */
const SEARCHES = 'rule palisade_searches { strings: $a = "9b1f6a52c0d84e37" condition: $a }';

function textOf(unit: string): Buffer {
  const bytes = TEXT_BYTES[chosenEngine().engine.kind];
  return Buffer.from(unit.repeat(Math.ceil(bytes / unit.length)), 'latin1').subarray(0, bytes);
}

/** A rule with the rules that its condition names, and those that these name. */
function withNeeded(rule: YaraRule, by_name: ReadonlyMap<string, YaraRule>, needed = new Set<YaraRule>()): Set<YaraRule> {
  for (const word of rule.words) {
    const other = by_name.get(word);
    if (other !== undefined && other !== rule && !needed.has(other)) {
      withNeeded(other, by_name, needed);
      needed.add(other);
    }
  }
  needed.add(rule);
  return needed;
}

/** Rules alone, compiled; undefined where they do not compile without others. */
function compileAlone(source: ReturnType<typeof parseYara>, rules: readonly YaraRule[]): CompiledRules | undefined {
  const by_name = new Map(source.rules.map((rule) => [rule.name, rule]));
  const needed = new Set(rules.flatMap((rule) => [...withNeeded(rule, by_name)]));
  try {
    return compileSource([...new Set(source.imports), ...[...needed].map((rule) => rule.source), SEARCHES].join('\n'));
  } catch {
    return undefined;
  }
}

/** The better of two: what else the machine does makes a scan slower, and never faster. */
function glance(compiled: CompiledRules, text: Buffer): number {
  let best_ms = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 2; run++) {
    const began = performance.now();
    compiled.scan(text);
    best_ms = Math.min(best_ms, performance.now() - began);
  }
  return text.length / best_ms;
}

/** The speed by the processor's own time: what other processes do is no part of it. */
function confirm(compiled: CompiledRules, text: Buffer): number {
  const began = performance.now();
  const cpu_before = process.threadCpuUsage();
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage(cpu_before);
    return (user + system) / 1000;
  };
  let scans = 0;
  while (cpuMs() < CONFIRM_CPU_MS && performance.now() - began < CONFIRM_WALL_MS) {
    for (let run = 0; run < 4; run++) compiled.scan(text);
    scans += 4;
  }
  return (scans * text.length) / Math.max(1, cpuMs());
}

function isMeasured({ is_private, patterns }: YaraRule): boolean {
  return !is_private && patterns.length > 0;
}

/** A rule's slowest texts at first sight, the slowest first. */
function slowest(compiled: CompiledRules, rule: YaraRule): RuleSpeed[] {
  const speeds = [...hostileUnits(rule.patterns)].map(([shape, unit]) => ({
    rule: rule.name,
    bytes_per_ms: glance(compiled, textOf(unit)),
    shape,
    unit,
  }));
  return speeds.sort((one, other) => one.bytes_per_ms - other.bytes_per_ms).slice(0, CONFIRMED_TEXTS);
}

function medianOf(speeds: readonly RuleSpeed[]): number {
  const sorted = speeds.map(({ bytes_per_ms }) => bytes_per_ms).sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;
}

/** The rule as slow as it is when nothing else disturbs, where it looked slower than `floor` at first. */
function settled(compiled: CompiledRules, looks: readonly RuleSpeed[], floor: number): RuleSpeed | undefined {
  const suspects = looks.filter(({ bytes_per_ms }) => bytes_per_ms < floor);
  if (suspects.length === 0) return looks[0];
  const speeds = suspects.map((look) => ({ ...look, bytes_per_ms: confirm(compiled, textOf(look.unit)) }));
  return speeds.sort((one, other) => one.bytes_per_ms - other.bytes_per_ms)[0];
}

/**
 * Every rule of a source alone, each on the text that is worst for it, slowest first, and the median of them. `every` takes only each so manieth rule, for a median.
 * @throws when a rule does not compile.
 */
export function measureRules(text: string, every = 1): { median: number; speeds: RuleSpeed[] } {
  const source = parseYara(text);
  const measured = source.rules
    .filter(isMeasured)
    .filter((_rule, index) => index % every === 0)
    .flatMap((rule) => {
      const compiled = compileAlone(source, [rule]);
      return compiled === undefined ? [] : [{ compiled, looks: slowest(compiled, rule) }];
    });
  const median = medianOf(measured.flatMap(({ looks }) => looks.slice(0, 1)));
  const speeds = measured.flatMap(({ compiled, looks }) => settled(compiled, looks, (2 * median) / SLOWER_MAXIMUM) ?? []);
  for (const { compiled } of measured) compiled.release();
  return { median, speeds: speeds.sort((one, other) => one.bytes_per_ms - other.bytes_per_ms) };
}

/** Rules that are looked at together: most are fast, and compiling takes longer than looking. */
const TOGETHER = 24;

/**
 * The rules of a source that are slower than a tenth of the median of `peers`, slowest first. It looks at many at a time, and at one alone only where they are slow together.
 * Rules that were not measured when `time_ms` is over count as fast. Rules that only look texts up are fast by their kind.
 */
export function slowRules(text: string, peers: () => number, time_ms: number): { median: number; slow: RuleSpeed[] } {
  const source = parseYara(text);
  const rules = source.rules.filter(isMeasured).filter(({ patterns }) => patterns.some(isWalked));
  if (rules.length === 0) return { median: Number.POSITIVE_INFINITY, slow: [] };
  const median = peers();
  const floor = median / SLOWER_MAXIMUM;
  const until = performance.now() + time_ms;
  const slow: RuleSpeed[] = [];
  for (let at = 0; at < rules.length; at += TOGETHER) {
    const group = rules.slice(at, at + TOGETHER);
    const together = compileAlone(source, group);
    for (const rule of group) {
      if (performance.now() > until) break;
      const is_fast =
        together !== undefined && (slowest(together, rule)[0]?.bytes_per_ms ?? Number.POSITIVE_INFINITY) > 2 * floor;
      const compiled = is_fast ? undefined : compileAlone(source, [rule]);
      const speed = compiled === undefined ? undefined : settled(compiled, slowest(compiled, rule), 2 * floor);
      if (speed !== undefined && speed.bytes_per_ms < floor) slow.push(speed);
      compiled?.release();
    }
    together?.release();
  }
  return { median, slow: slow.sort((one, other) => one.bytes_per_ms - other.bytes_per_ms) };
}
