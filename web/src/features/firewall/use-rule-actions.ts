import { changeRules, deleteRule, type Rule, type RuleChange, setRuleEnabled, undoRevision } from '@palisade/contract/firewall';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { CallError, call, sentenceOf } from '#api/call.ts';
import { readRulesAnew, revisionsQuery, updateRules } from './firewall.queries.ts';

interface Failure {
  title: string;
  sentence: string;
  retry: () => void;
}

export interface RuleActions {
  toggle: (rule: Rule) => void;
  remove: (rule: Rule) => void;
  /** Changes several rules at once, without confirmation, because it can be undone. */
  changeMany: (rules: readonly Rule[], change: RuleChange) => void;
  /** Reverts the latest change. */
  undo: () => void;
  /** Shows a notice about a change made elsewhere, which can be undone here. */
  tell: (notice: string) => void;
  isUndoing: boolean;
  /** Ids of rules whose change is being sent. */
  busy: ReadonlySet<string>;
  failure: Failure | undefined;
  /** Description of the last action. */
  notice: string;
  /** Whether the last action can be undone. */
  canUndo: boolean;
}

/** Sentences about several rules: after success and after failure. */
const CHANGES: Record<RuleChange, { done: (rules: string) => string; failed: (rules: string) => string }> = {
  enable: { done: (rules) => `Enabled ${rules}.`, failed: (rules) => `We couldn’t enable ${rules}` },
  disable: { done: (rules) => `Disabled ${rules}.`, failed: (rules) => `We couldn’t disable ${rules}` },
  delete: { done: (rules) => `Deleted ${rules}.`, failed: (rules) => `We couldn’t delete ${rules}` },
};

const named = (rules: readonly Rule[]) =>
  plural(rules.length, { one: `“${rules[0]?.rule_name}”`, other: `${formatNumber(rules.length)} rules` });

/** Actions on rules. The list changes after the server's reply; a rule that is already deleted is removed without an error. */
export function useRuleActions(): RuleActions {
  const queries = useQueryClient();
  // A ref in addition to the state, because two quick clicks come before the next render.
  const running = useRef(new Set<string>());
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState<Failure>();
  const [done, setDone] = useState({ notice: '', canUndo: false });
  const [isUndoing, setIsUndoing] = useState(false);

  const drop = (id: string) => updateRules(queries, (rules) => rules.filter((rule) => rule.id !== id));

  async function attempt(rule: Rule, title: string, work: () => Promise<string>): Promise<void> {
    if (running.current.has(rule.id)) return;
    running.current.add(rule.id);
    setBusy(new Set(running.current));
    setFailure(undefined);
    try {
      setDone({ notice: await work(), canUndo: true });
    } catch (error) {
      console.error(error);
      if (error instanceof CallError && error.status === 404) {
        drop(rule.id);
        setDone({ notice: `“${rule.rule_name}” was already deleted.`, canUndo: false });
      } else {
        setFailure({ title, sentence: sentenceOf(error), retry: () => void attempt(rule, title, work) });
      }
    } finally {
      running.current.delete(rule.id);
      setBusy(new Set(running.current));
    }
  }

  function toggle(rule: Rule) {
    const enabled = !rule.enabled;
    void attempt(rule, `We couldn’t change “${rule.rule_name}”`, async () => {
      const changed = await call(setRuleEnabled, { params: { id: rule.id }, body: { enabled } });
      // The specification does not define the reply, so the sent value is used as a fallback.
      const now = changed.id === rule.id ? changed : { enabled };
      updateRules(queries, (rules) => rules.map((other) => (other.id === rule.id ? { ...other, ...now } : other)));
      return CHANGES[enabled ? 'enable' : 'disable'].done(`“${rule.rule_name}”`);
    });
  }

  function remove(rule: Rule) {
    if (running.current.has(rule.id) || !window.confirm('Are you sure you want to delete this rule?')) return;
    void attempt(rule, `We couldn’t delete “${rule.rule_name}”`, async () => {
      await call(deleteRule, { params: { id: rule.id } });
      drop(rule.id);
      return `Deleted “${rule.rule_name}”.`;
    });
  }

  async function changeMany(rules: readonly Rule[], change: RuleChange): Promise<void> {
    const ids = new Set(rules.map(({ id }) => id));
    if (ids.size === 0 || [...ids].some((id) => running.current.has(id))) return;
    for (const id of ids) running.current.add(id);
    setBusy(new Set(running.current));
    setFailure(undefined);
    try {
      await call(changeRules, { body: { rule_ids: [...ids], change } });
      updateRules(queries, (all) =>
        change === 'delete'
          ? all.filter(({ id }) => !ids.has(id))
          : all.map((rule) => (ids.has(rule.id) ? { ...rule, enabled: change === 'enable' } : rule)),
      );
      // Enabling a temporary rule changes its end.
      if (change === 'enable') void readRulesAnew(queries);
      setDone({ notice: CHANGES[change].done(named(rules)), canUndo: true });
    } catch (error) {
      console.error(error);
      setFailure({
        title: CHANGES[change].failed(named(rules)),
        sentence: sentenceOf(error),
        retry: () => void changeMany(rules, change),
      });
    } finally {
      for (const id of ids) running.current.delete(id);
      setBusy(new Set(running.current));
    }
  }

  async function undo(): Promise<void> {
    setIsUndoing(true);
    setFailure(undefined);
    try {
      const [latest] = await queries.fetchQuery(revisionsQuery);
      if (latest !== undefined) await call(undoRevision, { params: { id: latest.id } });
      await readRulesAnew(queries);
      setDone({ notice: 'Change undone.', canUndo: false });
    } catch (error) {
      console.error(error);
      setFailure({ title: 'We couldn’t undo the change', sentence: sentenceOf(error), retry: () => void undo() });
    } finally {
      setIsUndoing(false);
    }
  }

  return {
    toggle,
    remove,
    changeMany: (rules, change) => void changeMany(rules, change),
    undo: () => void undo(),
    tell: useCallback((notice: string) => setDone({ notice, canUndo: true }), []),
    isUndoing,
    busy,
    failure,
    ...done,
  };
}
