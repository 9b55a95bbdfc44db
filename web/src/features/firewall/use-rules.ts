import type { Rule } from '@palisade/contract/firewall';
import { type Conflict, conflictsOf } from '@palisade/contract/firewall-advice';
import { type Finding, findings as findingsOf } from '@palisade/contract/firewall-verdict';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { allRulesQuery, FIRST_RULES, firstRulesQuery } from './firewall.queries.ts';

export interface ReadRules {
  /** The newest rules, later all of them; undefined while loading. */
  rules: readonly Rule[] | undefined;
  total: number | undefined;
  /** Whether `rules` is complete. */
  isWhole: boolean;
  error: Error | null;
  refetch: () => Promise<unknown>;
  /** Loads the other rules now instead of when the browser is idle. */
  want: () => void;
}

/** Loads the newest rules first and the others when the screen has rendered, so that a thousand rules do not delay it. */
export function useRules(): ReadRules {
  const first = useQuery(firstRulesQuery);
  const [isWanted, setIsWanted] = useState(false);
  const hasMore = first.data !== undefined && first.data.total > first.data.rules.length;
  useEffect(() => {
    if (!hasMore || isWanted) return;
    return whenIdle(() => setIsWanted(true));
  }, [hasMore, isWanted]);
  const all = useQuery({ ...allRulesQuery, enabled: isWanted && hasMore });
  const whole = hasMore ? all.data : first.data?.rules;
  return {
    rules: whole ?? first.data?.rules,
    total: first.data?.total,
    isWhole: whole !== undefined,
    error: first.error ?? all.error,
    refetch: () => Promise.all([first.refetch(), ...(isWanted && hasMore ? [all.refetch()] : [])]),
    want: useCallback(() => setIsWanted(true), []),
  };
}

/** Calls `work` when the browser is idle. Returns a function that cancels it. */
function whenIdle(work: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(work);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work, { timeout: 2_000 });
  return () => cancelIdleCallback(handle);
}

/** The rules without an effect, by their ids; undefined before the analysis. A worker analyses large rule sets, so that the screen stays responsive. */
export function useConflicts(rules: readonly Rule[] | undefined, isWhole: boolean): ReadonlyMap<string, Conflict> | undefined {
  const isFew = isWhole && rules !== undefined && (rules.length <= FIRST_RULES || typeof Worker === 'undefined');
  const ofFew = useMemo(() => (isFew ? findingsOf(rules) : undefined), [isFew, rules]);
  const [ofMany, setOfMany] = useState<readonly Finding[]>();
  useEffect(() => {
    if (isFew || !isWhole || rules === undefined) return;
    const worker = new Worker(new URL('./findings-worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<readonly Finding[]>) => setOfMany(data);
    worker.postMessage(rules);
    return () => worker.terminate();
  }, [isFew, isWhole, rules]);
  const found = isFew ? ofFew : ofMany;
  return useMemo(
    () => found && rules && new Map(conflictsOf(rules, found).map((conflict) => [conflict.needless_id, conflict])),
    [found, rules],
  );
}
