import { TextInput, type TextInputProps } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import type { Device } from '@palisade/contract/devices';
import {
  actionSchema,
  directionSchema,
  type Lasts,
  type NewRule,
  newRuleSchema,
  protocolSchema,
  RULE_NAME_MAXIMUM,
  type Rule,
} from '@palisade/contract/firewall';
import { allowsEverything, conflictsOf } from '@palisade/contract/firewall-advice';
import { EVERY } from '@palisade/contract/firewall-grammar';
import { findings } from '@palisade/contract/firewall-verdict';
import { listFirst, plural } from '@palisade/contract/intl';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useMemo, useRef, useState } from 'react';
import { z } from 'zod';
import { devicesQuery, livingOf } from '#domain/device/devices.ts';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { cutsOf, describeCut } from './cut-connections.ts';
import { DeviceChoice } from './device-choice.tsx';
import { ruleSentence } from './rule-sentence.ts';
import { ACTIONS, DIRECTIONS, describeDecider, PROTOCOLS } from './rule-words.ts';
import './rule-fields.css';

const HELP = {
  source_ip: '* means anywhere. You can enter addresses, or a network like 192.168.1.0/24.',
  destination_ip: '* means anywhere. You can enter addresses or networks.',
  port: '* means every port. Web pages use 443, Remote Desktop 3389. Ranges like 8000-8100 work too.',
} as const;

type TextField = keyof typeof HELP;

/** Duration of a rule in the form; `as_is` keeps the present duration. */
type LastsChoice = Lasts | 'always' | 'as_is';

export interface RuleForm extends Omit<NewRule, 'lasts' | 'device_ids'> {
  lasts: LastsChoice;
  /** Undefined until the person chooses: a new rule then applies to all devices, an edited rule keeps its devices. */
  device_ids?: string[] | undefined;
}

/** Accepts incomplete input; the contract validates the sent rule. */
export const ruleFormSchema: z.ZodType<RuleForm> = z.object({
  rule_name: z.string(),
  direction: directionSchema,
  action: actionSchema,
  protocol: protocolSchema,
  source_ip: z.string(),
  destination_ip: z.string(),
  port: z.string(),
  lasts: z.enum(['always', 'hour', 'day', 'as_is']),
  device_ids: z.array(z.string()).optional(),
});

const optionsOf = <Value extends string>(values: readonly Value[], labels: Record<Value, string>) =>
  values.map((value) => ({ value, label: labels[value] }));

/** Values for the server. ICMP has no ports, so a port typed earlier is dropped. */
export function sentOf({ lasts, device_ids, ...values }: RuleForm): NewRule {
  const chosen = { ...values, ...(device_ids !== undefined && { device_ids }) };
  const terms = values.protocol === 'icmp' ? { ...chosen, port: EVERY } : chosen;
  if (lasts === 'as_is') return terms;
  return lasts === 'always' ? terms : { ...terms, lasts };
}

/** A sentence for each field that the contract refuses, equal to the server's. */
function messagesOf(values: NewRule): Record<string, string> {
  const issues = newRuleSchema.safeParse({ ...values, rule_name: values.rule_name || 'name' }).error?.issues ?? [];
  // The first issue of a field is the one to show.
  return Object.fromEntries(issues.toReversed().map(({ path, message }) => [path.join('.'), message]));
}

export function useRuleForm(initialValues: RuleForm): UseFormReturnType<RuleForm> {
  return useForm<RuleForm>({ mode: 'controlled', initialValues });
}

interface RuleFieldsProps {
  form: UseFormReturnType<RuleForm>;
  /** All rules, for the preview; undefined while they load. */
  rules: readonly Rule[] | undefined;
  /** The rule that is being edited. */
  edited?: Rule | undefined;
  isAutofocused: boolean;
}

/** The fields of a rule, its sentence and its effect on the other rules. */
export function RuleFields({ form, rules, edited, isAutofocused }: RuleFieldsProps) {
  const [focused, setFocused] = useState<TextField>();
  const action = useRef<HTMLSelectElement>(null);
  const values = sentOf(form.values);
  const messages = messagesOf(values);
  const terms = Object.keys(messages).length === 0 ? values : undefined;
  // Also marks the specified defaults of a new rule until they are changed.
  const isOpen = terms !== undefined && allowsEverything(terms);
  const limiting: TextField = values.direction === 'inbound' ? 'source_ip' : 'destination_ip';
  const { data: all } = useQuery(devicesQuery);
  const devices = all && livingOf(all);
  const chosen = form.values.device_ids ?? edited?.device_ids ?? [];

  /** While the person types, the sentence is a hint. It becomes an error when the focus leaves the field or the server refuses. */
  function textProps(field: TextField): TextInputProps & { 'data-open': boolean } {
    const hint = messages[field];
    const error = form.errors[field] ?? (focused === field ? undefined : hint);
    return {
      name: field,
      'data-open': isOpen && (field === 'port' || field === limiting),
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

  const lasting: { value: LastsChoice; label: string }[] = [
    ...(edited?.expires_at ? [{ value: 'as_is' as const, label: 'No change' }] : []),
    { value: 'always', label: 'Until I turn it off' },
    { value: 'hour', label: '1 hour' },
    { value: 'day', label: '1 day' },
  ];
  return (
    <div className="rule-fields">
      <div className="rule-fields__columns">
        <TextInput
          label="Rule Name"
          data-autofocus={isAutofocused || undefined}
          required
          withAsterisk={false}
          size="md"
          autoComplete="off"
          maxLength={RULE_NAME_MAXIMUM}
          placeholder="Web server"
          {...form.getInputProps('rule_name')}
        />
        <RulePreview
          terms={terms}
          isOpen={isOpen}
          rules={rules}
          edited={edited}
          devices={devices ?? []}
          onBlock={() => {
            form.setFieldValue('action', 'block');
            // The button disappears with the warning.
            action.current?.focus();
          }}
        />
        <Stack gap="4">
          <Grid columns="2" gap="3">
            <Choice
              label="Direction"
              size="md"
              data={optionsOf(directionSchema.options, DIRECTIONS)}
              {...form.getInputProps('direction')}
            />
            <Choice
              label="Action"
              ref={action}
              size="md"
              data-open={isOpen}
              data={optionsOf(actionSchema.options, ACTIONS)}
              {...form.getInputProps('action')}
            />
          </Grid>
          <fieldset>
            <legend className="base bold below-2">Which connections</legend>
            <Grid columns="2" phone="stack" gap="3" align="start">
              <Choice
                label="Protocol"
                size="md"
                data={optionsOf(protocolSchema.options, PROTOCOLS)}
                {...form.getInputProps('protocol')}
              />
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
              <TextInput label="Source IP" {...textProps('source_ip')} />
              <TextInput label="Destination IP" {...textProps('destination_ip')} />
            </Grid>
          </fieldset>
          <Choice label="Lasts" size="md" data={lasting} {...form.getInputProps('lasts')} />
          {devices && (devices.length > 1 || chosen.length > 0) && (
            <DeviceChoice devices={devices} chosen={chosen} onChange={(ids) => form.setFieldValue('device_ids', ids)} />
          )}
        </Stack>
      </div>
    </div>
  );
}

/** The id of the unsaved rule, greater than every real id. */
const CANDIDATE = 'ffffffff-ffff-7fff-bfff-ffffffffffff';
/** Number of rules that the preview names; the others are counted. */
const NAMED = 3;

interface RulePreviewProps {
  /** Undefined while a field is invalid. */
  terms: NewRule | undefined;
  /** True if the rule allows everything. */
  isOpen: boolean;
  rules: readonly Rule[] | undefined;
  edited: Rule | undefined;
  devices: readonly Device[];
  onBlock: () => void;
}

const LIMIT = {
  inbound: 'This rule allows everything. Enter a port or a source IP to limit it.',
  outbound: 'This rule allows everything. Enter a port or a destination IP to limit it.',
} as const;

/** Preview of an unsaved rule among the others. */
function RulePreview({ terms, isOpen, rules, edited, devices, onBlock }: RulePreviewProps) {
  // Keeps typing responsive.
  const settled = useDeferredValue(terms);
  const { effect, notes } = useMemo(
    () => (settled && rules ? effectOf(settled, rules, edited, devices) : NO_EFFECT),
    [settled, rules, edited, devices],
  );
  const isAmber = isOpen || effect !== undefined;
  return (
    <div className="rule-fields__aside" role="status" data-open={isAmber}>
      {terms && (
        <>
          <div className={`rule-fields__preview pad-m break ${isAmber ? 'surface-amber' : 'surface-sunken'}`}>
            <p className={`medium ${isAmber ? 'amber' : ''}`}>
              {isAmber && <IconAlertTriangle size={18} stroke={2} aria-hidden="true" />}{' '}
              {effect ?? ruleSentence(newRuleSchema.parse({ ...terms, rule_name: 'name' }))}
            </p>
            {isOpen && (
              <>
                <p className="sub below-2">{LIMIT[terms.direction]}</p>
                <Button variant="quiet" size="s" onClick={onBlock}>
                  Block instead
                </Button>
              </>
            )}
          </div>
          {notes.length > 0 && (
            <Stack gap="1" className="surface-sunken pad-m break above-2">
              {notes.map((note) => (
                <p key={note} className="sub">
                  {note}
                </p>
              ))}
            </Stack>
          )}
        </>
      )}
    </div>
  );
}

interface Effect {
  /** The rule that decides in place of this one, or why it matches nothing; undefined if it has an effect. */
  effect: ReactNode | undefined;
  /** Sentences about cut connections and redundant rules. */
  notes: readonly string[];
}

const NO_EFFECT: Effect = { effect: undefined, notes: [] };

/** The effect of an unsaved rule among the others. */
function effectOf(terms: NewRule, rules: readonly Rule[], edited: Rule | undefined, devices: readonly Device[]): Effect {
  const {
    lasts: _,
    device_ids = edited?.device_ids ?? [],
    ...rest
  } = newRuleSchema.parse({ ...terms, rule_name: terms.rule_name || 'name' });
  const id = edited?.id ?? CANDIDATE;
  const candidate: Rule = {
    created_at: '',
    expires_at: null,
    ...edited,
    ...rest,
    id,
    device_ids,
    enabled: edited?.enabled ?? true,
  };
  const others = rules.filter((rule) => rule.id !== id);
  const all = [...others, candidate];
  const byId = new Map(all.map((rule) => [rule.id, rule]));
  const conflicts = conflictsOf(all, findings(all, id));
  const own = conflicts.find(({ needless_id }) => needless_id === id);
  const kept = byId.get(own?.kept_id ?? '');
  const named = conflicts
    .filter(({ needless_id }) => needless_id !== id)
    .map(({ needless_id }) => `“${byId.get(needless_id)?.rule_name ?? ''}”`);
  return {
    effect:
      own &&
      (kept ? <Sentence text={describeDecider(candidate, kept)} parts={{ rule: <bdi>{kept.rule_name}</bdi> }} /> : own.reason),
    notes: [
      ...cutsOf(rules, all, devices).map(describeCut),
      ...(named.length > 0
        ? [
            plural(named.length, {
              one: `With this rule, ${listFirst(named, NAMED)} changes nothing.`,
              other: `With this rule, ${listFirst(named, NAMED)} change nothing.`,
            }),
          ]
        : []),
    ],
  };
}
