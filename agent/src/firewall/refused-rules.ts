/** Maximum refused rules that are reported for one revision. */
const REFUSED_MAXIMUM = 5;

/** A refused rule with the kernel's message. `rule_id` is null if the kernel refuses the table even without the user's rules. */
export interface RefusedRule {
  rule_id: string | null;
  message: string;
}

/**
 * Finds the rules that the kernel refuses, by bisection.
 * @param refuses returns the kernel's message about a subset of the rules; undefined if it accepts them
 */
export async function findRefusedRules<Rule extends { rule: { id: string } }>(
  rules: readonly Rule[],
  refuses: (some: readonly Rule[]) => Promise<string | undefined>,
): Promise<RefusedRule[]> {
  const found: RefusedRule[] = [];
  let rest = rules;
  for (let turn = 0; turn < REFUSED_MAXIMUM; turn += 1) {
    let message = await refuses(rest);
    if (message === undefined) return found;
    const without = await refuses([]);
    if (without !== undefined) return [...found, { rule_id: null, message: without }];
    let some = rest;
    while (some.length > 1) {
      const half = some.slice(0, Math.ceil(some.length / 2));
      const said = await refuses(half);
      some = said === undefined ? some.slice(half.length) : half;
      message = said ?? message;
    }
    const [one] = some;
    if (one === undefined) return found;
    found.push({ rule_id: one.rule.id, message: (await refuses([one])) ?? message });
    rest = rest.filter((rule) => rule !== one);
  }
  return found;
}
