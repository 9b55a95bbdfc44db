import { editRule, type Rule } from '@palisade/contract/firewall';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { CallError, call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Row } from '#ui/layout.tsx';
import { isEscape } from '#ui/pressed.ts';
import { Refusal } from '#ui/refusal.tsx';
import { updateRules } from './firewall.queries.ts';
import { RuleFields, sentOf, useRuleForm } from './rule-fields.tsx';

interface RuleEditorProps {
  rule: Rule;
  rules: readonly Rule[] | undefined;
  /** `changed` is true if the rule was saved. */
  onEnd: (changed: boolean) => void;
}

/** Edits a rule in its row. */
export function RuleEditor({ rule, rules, onEnd }: RuleEditorProps) {
  const queries = useQueryClient();
  const { rule_name, direction, action, protocol, source_ip, destination_ip, port, expires_at } = rule;
  const form = useRuleForm({
    rule_name,
    direction,
    action,
    protocol,
    source_ip,
    destination_ip,
    port,
    lasts: expires_at === null ? 'always' : 'as_is',
  });
  const [failure, setFailure] = useState('');
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => element.current?.querySelector('input')?.focus(), []);

  const { mutate, isPending, error } = useChange({
    async mutationFn() {
      const { lasts } = form.values;
      const terms = sentOf(form.values);
      const changed = await call(editRule, {
        params: { id: rule.id },
        body: lasts === 'always' && expires_at !== null ? { ...terms, lasts: null } : terms,
      });
      updateRules(queries, (all) => all.map((other) => (other.id === changed.id ? changed : other)));
    },
    onSuccess: () => onEnd(true),
    onError(error) {
      if (error instanceof CallError && error.status === 404) {
        // The rule was deleted; the table shows that.
        updateRules(queries, (all) => all.filter((other) => other.id !== rule.id));
        return;
      }
      const errors = error instanceof CallError ? (error.problem?.errors ?? []) : [];
      form.setErrors(Object.fromEntries(errors.map(({ field, message }) => [field, message])));
      if (errors.length === 0) setFailure(sentenceOf(error));
    },
  });

  function save() {
    setFailure('');
    mutate();
  }

  return (
    <Form
      error={error}
      busy={isPending}
      ref={element}
      gap="4"
      className="rule-form"
      aria-label={`Edit ${rule.rule_name}`}
      onSubmit={form.onSubmit(save)}
      onKeyDown={(event) => {
        if (isEscape(event)) onEnd(false);
      }}
    >
      <RuleFields form={form} rules={rules} edited={rule} isAutofocused={false} />
      <Refusal error={failure}>{failure}</Refusal>
      <Row gap="2" justify="end">
        <Button variant="quiet" onClick={() => onEnd(false)}>
          Cancel
        </Button>
        <Submit>Save</Submit>
      </Row>
    </Form>
  );
}
