import { deleteRule, type Rule, setRuleEnabled, undoRevision } from '@palisade/contract/firewall';
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
  /** Takes the latest change back. */
  undo: () => void;
  /** Says what was done elsewhere, so that it can be undone here. */
  tell: (notice: string) => void;
  isUndoing: boolean;
  /** Rules whose change is on its way. */
  busy: ReadonlySet<string>;
  failure: Failure | undefined;
  /** The last action. */
  notice: string;
  /** Whether that can be taken back. */
  canUndo: boolean;
}

/** Actions on a rule. The list changes after the server has done it; a rule that is gone already goes from the list without a fuss. */
export function useRuleActions(): RuleActions {
  const queries = useQueryClient();
  // Beside the state, because two clicks at once come before the next drawing.
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
        setDone({ notice: `The rule “${rule.rule_name}” was already gone.`, canUndo: false });
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
    void attempt(rule, `The rule “${rule.rule_name}” was not changed`, async () => {
      const changed = await call(setRuleEnabled, { params: { id: rule.id }, body: { enabled } });
      // The specification does not say what is answered: what was sent holds.
      const now = changed.id === rule.id ? changed : { enabled };
      updateRules(queries, (rules) => rules.map((other) => (other.id === rule.id ? { ...other, ...now } : other)));
      return `The rule “${rule.rule_name}” is ${enabled ? 'enabled' : 'disabled'}.`;
    });
  }

  function remove(rule: Rule) {
    if (running.current.has(rule.id) || !window.confirm('Are you sure you want to delete this rule?')) return;
    void attempt(rule, `The rule “${rule.rule_name}” was not deleted`, async () => {
      await call(deleteRule, { params: { id: rule.id } });
      drop(rule.id);
      return `The rule “${rule.rule_name}” was deleted.`;
    });
  }

  async function undo(): Promise<void> {
    setIsUndoing(true);
    setFailure(undefined);
    try {
      const [latest] = await queries.fetchQuery(revisionsQuery);
      if (latest !== undefined) await call(undoRevision, { params: { id: latest.id } });
      await readRulesAnew(queries);
      setDone({ notice: 'The change was taken back.', canUndo: false });
    } catch (error) {
      console.error(error);
      setFailure({ title: 'The change was not taken back', sentence: sentenceOf(error), retry: () => void undo() });
    } finally {
      setIsUndoing(false);
    }
  }

  return {
    toggle,
    remove,
    undo: () => void undo(),
    tell: useCallback((notice: string) => setDone({ notice, canUndo: true }), []),
    isUndoing,
    busy,
    failure,
    ...done,
  };
}
