import type { ScanDetail } from '@palisade/contract/quarantine';
import { REPORT_REASON_MAXIMUM } from '@palisade/contract/quarantine';
import { IconDownload, IconFlag, IconTrash } from '@tabler/icons-react';
import { useEffect, useId, useRef, useState } from 'react';
import { messageAt } from '#api/field-messages.ts';
import { Button } from '#ui/button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { describeReport } from './scan-advice.ts';
import { useDeleteFile, useReportFalseAlarm, useRestoreFile, useUnlockFile } from './scan-detail.queries.ts';

const RESTORE_WARNING = 'This file is dangerous. You’ll get it exactly as you uploaded it. Download it anyway?';

/** Scans an encrypted archive again with its password. */
export function PasswordForm({ scan }: { scan: ScanDetail }) {
  const [password, setPassword] = useState('');
  const unlock = useUnlockFile(scan.id);

  function submit() {
    if (password !== '') unlock.mutate(password, { onSuccess: () => setPassword('') });
  }

  return (
    <Form
      gap="3"
      className="surface-plain pad-l"
      error={unlock.error}
      busy={unlock.isPending}
      onSubmit={submit}
      onEdit={unlock.reset}
    >
      <PasswordField
        label="File password"
        description="We’ll use it to scan the file, but won’t store it."
        name="file-password"
        autoComplete="off"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={messageAt('password', unlock.error)}
      />
      <Submit disabled={password === ''}>Scan with password</Submit>
    </Form>
  );
}

/** Actions on the stored copy, and the report of a false alarm. */
export function KeptFile({ scan }: { scan: ScanDetail }) {
  const restore = useRestoreFile(scan);
  const remove = useDeleteFile(scan.id);
  const [isReporting, setIsReporting] = useState(false);
  const report = describeReport(scan);
  const said = useRef<HTMLParagraphElement>(null);
  const wasSent = isReporting && report !== undefined;
  useEffect(() => {
    if (wasSent) said.current?.focus();
  }, [wasSent]);
  if (scan.kept !== 'sealed' && scan.scan_status !== 'infected') return null;
  const isHarmful = scan.scan_status === 'infected' && !scan.is_test_file && scan.report?.status !== 'confirmed';

  return (
    <Stack gap="2">
      {report && (
        // Shown above the form that it replaces, because on a phone the form is out of view.
        <p ref={said} tabIndex={-1} className="blue surface-blue pad-s">
          {report}
        </p>
      )}
      <Row gap="2">
        {scan.kept === 'sealed' && (
          <Button
            variant="quiet"
            size="s"
            icon={IconTrash}
            loading={remove.isPending}
            onClick={() => {
              if (window.confirm('Delete our copy now? You can’t undo this.')) remove.mutate();
            }}
          >
            Delete our copy
          </Button>
        )}
        {scan.scan_status === 'infected' && !report && !isReporting && (
          <Button variant="quiet" size="s" icon={IconFlag} onClick={() => setIsReporting(true)}>
            Report a false alarm
          </Button>
        )}
        {scan.kept === 'sealed' && (
          <Button
            variant={isHarmful ? 'text' : 'quiet'}
            size="s"
            icon={IconDownload}
            loading={restore.isPending}
            onClick={() => {
              if (!isHarmful || window.confirm(RESTORE_WARNING)) restore.mutate();
            }}
          >
            {isHarmful ? 'Download the dangerous file' : 'Download file'}
          </Button>
        )}
      </Row>
      <Refusal error={restore.error ?? remove.error} />
      {isReporting && !report && <ReportForm scan={scan} onCancel={() => setIsReporting(false)} />}
    </Stack>
  );
}

function ReportForm({ scan, onCancel }: { scan: ScanDetail; onCancel: () => void }) {
  const [reason, setReason] = useState('');
  const report = useReportFalseAlarm(scan.id);
  const id = useId();

  return (
    <Form gap="2" error={report.error} busy={report.isPending} onSubmit={() => report.mutate(reason)}>
      <label htmlFor={id}>Why is this file harmless?</label>
      <textarea
        className="field full"
        id={id}
        rows={3}
        maxLength={REPORT_REASON_MAXIMUM}
        value={reason}
        // biome-ignore lint/a11y/noAutofocus: the form replaces the button that opened it
        autoFocus
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <p className="sub">Administrators see the file’s name, fingerprint, and threat. They can’t open the file.</p>
      <Refusal error={report.error} />
      <Row gap="2">
        <Submit size="s">Send report</Submit>
        <Button variant="quiet" size="s" onClick={onCancel}>
          Cancel
        </Button>
      </Row>
    </Form>
  );
}
