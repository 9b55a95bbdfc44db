import { importRules, RULES_MAXIMUM, type RuleFile } from '@palisade/contract/firewall';
import { formatNumber, plural } from '@palisade/contract/intl';
import { useState } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Check } from '#ui/check.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Stack } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { readRuleFile } from './rule-file.ts';
import { ruleSentence } from './rule-sentence.ts';
import '#ui/refusal.css';
import './rule-fields.css';

/** Number of rules in the preview of a file. */
const SHOWN = 5;

/** Imports rules from a file, in addition to the present ones or in place of them. */
export function ImportDialog({ total, onClose }: { total: number; onClose: () => void }) {
  const [file, setFile] = useState<RuleFile>();
  const [messages, setMessages] = useState<readonly string[]>([]);
  const [replace, setReplace] = useState(false);
  const { mutate, isPending, error } = useChange({
    of: importRules,
    mutationFn: ({ rules }: RuleFile) => call(importRules, { body: { rules, replace } }),
    onError: (error) => setMessages([sentenceOf(error)]),
  });
  const count = file?.rules.length ?? 0;
  const isTooMany = !replace && count + total > RULES_MAXIMUM;

  async function choose(chosen: File | undefined) {
    setFile(undefined);
    setMessages([]);
    if (chosen === undefined) return;
    const read = await readRuleFile(chosen);
    if (read.ok) setFile(read.file);
    else setMessages(read.messages);
  }

  function save() {
    if (file === undefined) return;
    setMessages([]);
    mutate(file, { onSuccess: onClose });
  }

  return (
    <ModalWindow title="Import rules" onClose={onClose}>
      <Form gap="4" className="rule-form" error={error} busy={isPending} onSubmit={save}>
        <Stack as="label" gap="2" className="rule-form__file">
          Exported rules file
          <input
            type="file"
            accept=".json,application/json"
            data-autofocus
            onChange={(event) => void choose(event.currentTarget.files?.[0])}
          />
        </Stack>
        {file && (
          <>
            <Stack as="ul" gap="2" aria-label="Rules in the file">
              {file.rules.slice(0, SHOWN).map((rule, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rules of a file have no id, and their order is fixed
                <li key={index} className="surface-sunken pad-s base break">
                  <b>
                    <bdi>{rule.rule_name}</bdi>
                  </b>
                  <br />
                  {ruleSentence(rule)}
                </li>
              ))}
            </Stack>
            {count > SHOWN && <p className="sub">{`And ${count - SHOWN} more.`}</p>}
            {total > 0 && (
              <Check
                checked={replace}
                onChange={(event) => setReplace(event.currentTarget.checked)}
                label={plural(total, {
                  one: 'Replace my rule. You can undo this.',
                  other: `Replace my ${formatNumber(total)} rules. You can undo this.`,
                })}
              />
            )}
          </>
        )}
        {(messages.length > 0 || isTooMany) && (
          <div className="refusal" role="alert">
            {isTooMany && (
              <p>
                {`You have ${formatNumber(total)} of ${formatNumber(RULES_MAXIMUM)} rules, so ${formatNumber(count)} more don’t fit. Delete some first.`}
              </p>
            )}
            {messages.map((message) => (
              <p key={message}>{message}</p>
            ))}
          </div>
        )}
        <div className="modal-window__actions">
          <Button variant="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Submit disabled={file === undefined || isTooMany}>
            {count === 0 ? 'Import' : plural(count, { one: 'Import 1 rule', other: `Import ${formatNumber(count)} rules` })}
          </Submit>
        </div>
      </Form>
    </ModalWindow>
  );
}
