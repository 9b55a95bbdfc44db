import { TextInput, type TextInputProps } from '@mantine/core';
import { useForm } from '@mantine/form';
import {
  actionSchema,
  addRule,
  directionSchema,
  type NewRule,
  newRuleSchema,
  protocolSchema,
  RULE_DEFAULTS,
  RULE_NAME_MAXIMUM,
} from '@palisade/contract/firewall';
import { EVERY } from '@palisade/contract/firewall-grammar';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { CallError, call, sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { updateRules } from './firewall.queries.ts';
import { ACTIONS, DIRECTIONS, describeRule, PROTOCOLS } from './rule-words.ts';
import './add-rule-dialog.css';

/** The specification's words for a rule that was not added. */
const FAILURE_ALERT = 'Error adding firewall rule';

const EMPTY: NewRule = { rule_name: '', ...RULE_DEFAULTS };

const HELP = {
  source_ip: '* for anywhere, or an address, a network such as 192.168.1.0/24, a range, a list.',
  destination_ip: '* for anywhere, or the same kinds of address.',
  port: '* for every port, or one such as 443, a range such as 8000-8100, or a list. It is the port that the connection goes to.',
} as const;

type TextField = keyof typeof HELP;

const optionsOf = <Value extends string>(values: readonly Value[], labels: Record<Value, string>) =>
  values.map((value) => ({ value, label: labels[value] }));

/** A sentence for each field that the contract refuses: the same that the server would answer. */
function messagesOf(values: NewRule): Record<string, string> {
  const issues = newRuleSchema.safeParse(values).error?.issues ?? [];
  // The first sentence for a field is the one to mend.
  return Object.fromEntries(issues.toReversed().map(({ path, message }) => [path.join('.'), message]));
}

/** What goes to the server: a port that was typed before ICMP was chosen stays behind. */
function sentOf(values: NewRule): NewRule {
  return values.protocol === 'icmp' ? { ...values, port: EVERY } : values;
}

export function AddRuleDialog({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const form = useForm<NewRule>({ mode: 'controlled', initialValues: EMPTY });
  const [isSaving, setIsSaving] = useState(false);
  const [failure, setFailure] = useState('');
  const [focused, setFocused] = useState<TextField>();
  const element = useRef<HTMLFormElement>(null);
  const values = sentOf(form.values);
  const messages = messagesOf({ ...values, rule_name: values.rule_name || 'name' });

  async function save() {
    setIsSaving(true);
    setFailure('');
    try {
      const rule = await call(addRule, { body: values });
      // The page may have been told of it, and have read it already.
      await updateRules(queries, (rules) => [rule, ...rules.filter(({ id }) => id !== rule.id)]);
      onClose();
    } catch (error) {
      const errors = error instanceof CallError ? (error.problem?.errors ?? []) : [];
      form.setErrors(Object.fromEntries(errors.map(({ field, message }) => [field, message])));
      if (errors.length === 0) setFailure(sentenceOf(error));
      setIsSaving(false);
      // After the fields show it, because an alert stops the page from drawing.
      setTimeout(() => {
        window.alert(FAILURE_ALERT);
        element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
      });
    }
  }

  /** While typing the sentence stands as a hint; it turns into an error when the person goes on, or when the server says it. */
  function textProps(field: TextField): TextInputProps {
    const hint = messages[field];
    const error = form.errors[field] ?? (focused === field ? undefined : hint);
    return {
      name: field,
      size: 'md',
      autoComplete: 'off',
      autoCapitalize: 'none',
      spellCheck: false,
      value: form.values[field],
      onChange: (event) => form.setFieldValue(field, event.currentTarget.value),
      onFocus: () => setFocused(field),
      onBlur: () => setFocused(undefined),
      description: error ? undefined : (hint ?? HELP[field]),
      inputWrapperOrder: ['label', 'input', 'description', 'error'],
      error,
    };
  }

  return (
    <ModalWindow title="Add Rule" onClose={onClose}>
      <form ref={element} className="add-rule" onSubmit={form.onSubmit(() => void save())}>
        <TextInput
          label="Rule Name"
          data-autofocus
          required
          withAsterisk={false}
          size="md"
          autoComplete="off"
          maxLength={RULE_NAME_MAXIMUM}
          placeholder="Web server"
          {...form.getInputProps('rule_name')}
        />
        <div className="add-rule__choices">
          <Choice
            label="Direction"
            size="md"
            data={optionsOf(directionSchema.options, DIRECTIONS)}
            {...form.getInputProps('direction')}
          />
          <Choice label="Action" size="md" data={optionsOf(actionSchema.options, ACTIONS)} {...form.getInputProps('action')} />
          <Choice
            label="Protocol"
            size="md"
            data={optionsOf(protocolSchema.options, PROTOCOLS)}
            {...form.getInputProps('protocol')}
          />
        </div>
        <TextInput label="Source IP" {...textProps('source_ip')} />
        <TextInput label="Destination IP" {...textProps('destination_ip')} />
        <TextInput
          label="Port"
          {...textProps('port')}
          {...(values.protocol === 'icmp' && {
            disabled: true,
            value: EVERY,
            error: undefined,
            description: 'ICMP has no ports.',
          })}
        />
        <p className="add-rule__sentence" role="status">
          {Object.keys(messages).length === 0 && describeRule(newRuleSchema.parse({ ...values, rule_name: 'name' }))}
        </p>
        {failure && (
          <p className="add-rule__failure" role="alert">
            {failure}
          </p>
        )}
        <div className="add-rule__actions">
          <Button variant="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isSaving}>
            Add Rule
          </Button>
        </div>
      </form>
    </ModalWindow>
  );
}
