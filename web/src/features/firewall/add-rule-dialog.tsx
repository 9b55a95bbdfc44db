import { addRule, importRules, type NewRule, RULE_DEFAULTS, type Rule } from '@palisade/contract/firewall';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CallError, call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { KeptNote, useKeptForm } from '#ui/kept-form.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { PressCard } from '#ui/press-card.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { readRulesAnew, updateRules } from './firewall.queries.ts';
import { GAMES, PRESETS, type Preset, rulesOf } from './presets.ts';
import { RuleFields, type RuleForm, ruleFormSchema, sentOf } from './rule-fields.tsx';
import { ruleSentence } from './rule-sentence.ts';

/** The specification's text for a rule that was not added. */
const FAILURE_ALERT = 'Error adding firewall rule';

const EMPTY: RuleForm = { rule_name: '', ...RULE_DEFAULTS, lasts: 'always' };

/** Storage key of unsent input. */
const PLACE = 'rule';

interface AddRuleDialogProps {
  rules: readonly Rule[] | undefined;
  onClose: () => void;
}

/** Adds a rule, empty or from a preset. */
export function AddRuleDialog({ rules, onClose }: AddRuleDialogProps) {
  const queries = useQueryClient();
  const { form, isKept, forget } = useKeptForm(PLACE, ruleFormSchema, EMPTY);
  const [preset, setPreset] = useState<Preset['id']>();
  const [gameName, setGameName] = useState<string>(GAMES[0].name);
  const [failure, setFailure] = useState('');
  const made =
    preset &&
    rulesOf(
      preset,
      GAMES.find(({ name }) => name === gameName),
    );
  const several = made !== undefined && made.length > 1 ? made : undefined;

  function choose(id: Preset['id'], game = gameName) {
    const isOff = preset === id && game === gameName;
    setPreset(isOff ? undefined : id);
    setGameName(game);
    const [first, ...others] = isOff
      ? []
      : rulesOf(
          id,
          GAMES.find(({ name }) => name === game),
        );
    form.setValues(first === undefined ? EMPTY : { ...EMPTY, ...termsOf(first) });
    // Several rules at once cannot be edited in the form, so there is no draft to keep.
    if (others.length > 0) forget();
  }

  async function send(): Promise<void> {
    if (several === undefined) {
      const rule = await call(addRule, { body: sentOf(form.values) });
      // The event may have arrived first, so the list may already contain the rule.
      updateRules(queries, (all) => [rule, ...all.filter(({ id }) => id !== rule.id)]);
      return;
    }
    await call(importRules, { body: { rules: several.map(termsOf) } });
    await readRulesAnew(queries);
  }

  function forgetAndClose() {
    forget();
    onClose();
  }

  const { mutate, isPending, error } = useChange({
    mutationFn: send,
    onSuccess: forgetAndClose,
    onError(error) {
      const errors = error instanceof CallError ? (error.problem?.errors ?? []) : [];
      form.setErrors(Object.fromEntries(errors.map(({ field, message }) => [field, message])));
      if (errors.length === 0 || several !== undefined) setFailure(sentenceOf(error));
      // After the fields show the error, because an alert blocks rendering.
      setTimeout(() => window.alert(FAILURE_ALERT));
    },
  });

  function save() {
    setFailure('');
    mutate();
  }

  function submit() {
    if (several !== undefined) save();
    else form.onSubmit(save)();
  }

  return (
    <ModalWindow title="Add Rule" size={several === undefined ? 820 : 520} onClose={onClose}>
      <Form gap="4" className="rule-form" error={error} busy={isPending} onSubmit={submit}>
        {isKept && <KeptNote />}
        <fieldset>
          <legend className="base medium">Start with a preset, or write your own rule.</legend>
          <Grid columns="fit-m" gap="2" className="above-2">
            {PRESETS.map(({ id, ...words }) => (
              <PressCard key={id} {...words} isOn={preset === id} onPress={() => choose(id)} />
            ))}
          </Grid>
        </fieldset>
        {preset === 'game' && (
          <Choice
            label="Game"
            size="md"
            data={GAMES.map(({ name }) => name)}
            value={gameName}
            onChange={(event) => choose('game', event.currentTarget.value)}
          />
        )}
        {several === undefined ? (
          <RuleFields form={form} rules={rules} isAutofocused />
        ) : (
          <Stack as="ul" gap="2" aria-label="Rules to add">
            {several.map((rule) => (
              <li key={rule.rule_name} className="surface-sunken pad-s base break">
                <b>{rule.rule_name}</b>
                <br />
                {ruleSentence(rule)}
              </li>
            ))}
          </Stack>
        )}
        <Refusal error={failure}>{failure}</Refusal>
        <div className="modal-window__actions">
          <Button variant="quiet" onClick={forgetAndClose}>
            Cancel
          </Button>
          <Submit>{several === undefined ? 'Add Rule' : `Add ${several.length} rules`}</Submit>
        </div>
      </Form>
    </ModalWindow>
  );
}

function termsOf({ lasts: _, device_ids: __, ...terms }: NewRule) {
  return terms;
}
