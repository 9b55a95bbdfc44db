import type { Rule } from '@palisade/contract/firewall';
import { type Finding, findings as findingsOf } from '@palisade/contract/firewall-verdict';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { allRulesQuery, FIRST_RULES, firstRulesQuery } from './firewall.queries.ts';

export interface ReadRules {
  /** The newest, or all of them; undefined until the first were read. */
  rules: readonly Rule[] | undefined;
  total: number | undefined;
  /** Whether `rules` are all of them. */
  isWhole: boolean;
  error: Error | null;
  refetch: () => Promise<unknown>;
  /** Has the others read now, where they wait for the screen to be drawn. */
  want: () => void;
}

/** The first rules at once, and the others when the screen stands: who opens it with a thousand of them waits for thirty. */
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

/** Calls when the browser has nothing else to do; answers what takes it back. */
function whenIdle(work: () => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(work);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(work, { timeout: 2_000 });
  return () => cancelIdleCallback(handle);
}

/** Contradictions among the rules; undefined before the analysis. Many are looked at by a worker, so that the screen does not wait. */
export function useFindings(rules: readonly Rule[] | undefined, isWhole: boolean): readonly Finding[] | undefined {
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
  return isFew ? ofFew : ofMany;
}
