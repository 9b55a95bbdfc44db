import type { Rule } from '@palisade/contract/firewall';
import { EXPORTS, type Export, exportRules } from '@palisade/contract/firewall-export';
import { useMemo, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Stack } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { saveFile } from '#ui/save-file.ts';
import { ruleFileOf } from './rule-file.ts';
import './rule-fields.css';

type Target = Export | 'palisade';

const TARGETS: Record<Target, string> = {
  palisade: 'Palisade, to import them again',
  nftables: 'Linux: nftables',
  iptables: 'Linux: iptables',
  ufw: 'Ubuntu: ufw',
  powershell: 'Windows: PowerShell',
  pf: 'macOS and BSD: pf',
};

interface ExportDialogProps {
  /** Undefined until all rules are loaded. */
  rules: readonly Rule[] | undefined;
  /** Initial target; Palisade for an unknown name. */
  first: string | null;
  onClose: () => void;
}

const targetOf = (name: string | null): Target => EXPORTS.find((one) => one === name) ?? 'palisade';

/** Exports the rules, also for a computer without an agent, and lists the rules that its firewall cannot express. */
export function ExportDialog({ rules, first, onClose }: ExportDialogProps) {
  const [target, setTarget] = useState(targetOf(first));
  const exported = useMemo(
    () => rules && (target === 'palisade' ? ruleFileOf(rules) : exportRules(rules, target)),
    [rules, target],
  );
  return (
    <ModalWindow title="Export rules" onClose={onClose}>
      <Form
        gap="4"
        className="rule-form"
        error={null}
        busy={exported === undefined}
        onSubmit={() => {
          if (exported === undefined) return;
          saveFile(
            exported.file_name,
            new Blob([exported.text], { type: target === 'palisade' ? 'application/json' : 'text/plain' }),
          );
          onClose();
        }}
      >
        <p className="sub">
          As a copy, or for Windows, Mac, and other computers without our program. Export again after you change your rules.
        </p>
        <Choice
          label="For"
          size="md"
          data-autofocus
          data={(['palisade', ...EXPORTS] as const).map((value) => ({ value, label: TARGETS[value] }))}
          value={target}
          onChange={(event) => setTarget(targetOf(event.currentTarget.value))}
        />
        {rules?.length === 0 && <p>You have no rules yet. Add a rule first.</p>}
        {exported && exported.left_out.length > 0 && (
          <Stack as="ul" gap="2" aria-label="Rules left out of the file">
            {exported.left_out.map(({ rule_name, reason }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two rules may have one name, and each choice rebuilds the list
              <li key={index} className="surface-sunken pad-s base break">
                <b>
                  <bdi>{rule_name}</bdi>
                </b>
                <br />
                Left out: {reason}
              </li>
            ))}
          </Stack>
        )}
        <div className="modal-window__actions">
          <Button variant="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Submit disabled={rules?.length === 0}>Save file</Submit>
        </div>
      </Form>
    </ModalWindow>
  );
}
