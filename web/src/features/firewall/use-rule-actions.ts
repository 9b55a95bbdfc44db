import { deleteRule, type Rule, setRuleEnabled } from '@palisade/contract/firewall';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { CallError, call, sentenceOf } from '#api/call.ts';
import { updateRules } from './firewall.queries.ts';

interface Failure {
  title: string;
  sentence: string;
  retry: () => void;
}

export interface RuleActions {
  toggle: (rule: Rule) => void;
  remove: (rule: Rule) => void;
  /** Rules whose change is on its way. */
  busy: ReadonlySet<string>;
  failure: Failure | undefined;
  /** What was done last, for those who do not see it. */
  notice: string;
}

/** What can be done to a rule. The list changes after the server has done it; a rule that is gone already goes from the list without a fuss. */
export function useRuleActions(): RuleActions {
  const queries = useQueryClient();
  // Beside the state, because two clicks at once come before the next drawing.
  const running = useRef(new Set<string>());
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState<Failure>();
  const [notice, setNotice] = useState('');

  const drop = (id: string) => updateRules(queries, (rules) => rules.filter((rule) => rule.id !== id));

  async function attempt(rule: Rule, title: string, work: () => Promise<string>): Promise<void> {
    if (running.current.has(rule.id)) return;
    running.current.add(rule.id);
    setBusy(new Set(running.current));
    setFailure(undefined);
    try {
      setNotice(await work());
    } catch (error) {
      console.error(error);
      if (error instanceof CallError && error.status === 404) {
        await drop(rule.id);
        setNotice(`The rule “${rule.rule_name}” was already gone.`);
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
      await updateRules(queries, (rules) => rules.map((other) => (other.id === changed.id ? changed : other)));
      return `The rule “${rule.rule_name}” is ${enabled ? 'enabled' : 'disabled'}.`;
    });
  }

  function remove(rule: Rule) {
    if (running.current.has(rule.id) || !window.confirm('Are you sure you want to delete this rule?')) return;
    void attempt(rule, `The rule “${rule.rule_name}” was not deleted`, async () => {
      await call(deleteRule, { params: { id: rule.id } });
      await drop(rule.id);
      return `The rule “${rule.rule_name}” was deleted.`;
    });
  }

  return { toggle, remove, busy, failure, notice };
}
