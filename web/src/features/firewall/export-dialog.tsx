import type { Rule } from '@palisade/contract/firewall';
import { EXPORTS, type Export, exportRules } from '@palisade/contract/firewall-export';
import { useMemo, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Stack } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { saveFile } from '#ui/save-file.ts';
import './rule-fields.css';

const TARGETS: Record<Export, string> = {
  nftables: 'Linux: nftables',
  iptables: 'Linux: iptables',
  ufw: 'Ubuntu: ufw',
  powershell: 'Windows: PowerShell',
  pf: 'macOS and BSD: pf',
};

interface ExportDialogProps {
  /** Undefined until all rules are loaded. */
  rules: readonly Rule[] | undefined;
  /** Initial target; the first of the list for an unknown name. */
  first: string | null;
  onClose: () => void;
}

/** Exports the rules for a computer without an agent, and lists the rules that its firewall cannot express. */
export function ExportDialog({ rules, first, onClose }: ExportDialogProps) {
  const [target, setTarget] = useState<Export>(EXPORTS.find((one) => one === first) ?? 'powershell');
  const exported = useMemo(() => rules && exportRules(rules, target), [rules, target]);
  return (
    <ModalWindow title="Export for another firewall" onClose={onClose}>
      <Form
        gap="4"
        className="rule-form"
        error={null}
        busy={exported === undefined}
        onSubmit={() => {
          if (exported === undefined) return;
          saveFile(exported.file_name, new Blob([exported.text], { type: 'text/plain' }));
          onClose();
        }}
      >
        <p className="sub">
          For Windows, Mac, and other computers without our program. Export again after you change your rules.
        </p>
        <Choice
          label="Firewall"
          size="md"
          data-autofocus
          data={EXPORTS.map((value) => ({ value, label: TARGETS[value] }))}
          value={target}
          onChange={(event) => setTarget(EXPORTS.find((one) => one === event.currentTarget.value) ?? 'powershell')}
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
