import { TextInput } from '@mantine/core';
import type { Account } from '@palisade/contract/auth';
import { isSameEmail } from '@palisade/contract/email';
import { deleteAccount, exportData } from '@palisade/contract/privacy';
import { shownEmail } from '@palisade/contract/shown-email';
import type { TwoFactor } from '@palisade/contract/two-factor';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { call, download, sentenceOf } from '#api/call.ts';
import { endSession } from '#api/session.ts';
import { twoFactorQuery } from '#domain/proof/proof.queries.ts';
import { ProofFields, ProofMessage } from '#domain/proof/proof-fields.tsx';
import { useProved } from '#domain/proof/use-proved.ts';
import { Button } from '#ui/button.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Row, Stack } from '#ui/layout.tsx';
import { saveFile } from '#ui/save-file.ts';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';

/** Data that is deleted with an account, most important first. */
const GOES = [
  'your scans, and every file in quarantine',
  'your firewall rules, alerts and remote sessions',
  'your conversation with support',
  'your subscription, without refund or return',
];

/** Export of all data and deletion of the account. Each form opens on request. */
export function OwnData({ account }: { account: Account }) {
  const [open, setOpen] = useState<'export' | 'delete'>();
  const { data: twoFactor, error, refetch } = useQuery({ ...twoFactorQuery, enabled: open !== undefined });
  const close = () => setOpen(undefined);
  return (
    <DialogPart title="Your data">
      {open === undefined && (
        <>
          <p className="sub">Download your data or delete your account.</p>
          <Row gap="2">
            <Button variant="quiet" onClick={() => setOpen('export')}>
              Export my data
            </Button>
            <Button variant="quiet" onClick={() => setOpen('delete')}>
              Delete my account
            </Button>
          </Row>
        </>
      )}
      {open !== undefined && !twoFactor && !error && <LoadingRows label="Loading two-factor sign-in" />}
      {open !== undefined && !twoFactor && error && (
        <ErrorNotice title="We couldn’t load two-factor" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      {open === 'export' && twoFactor && <ExportForm twoFactor={twoFactor} onClose={close} />}
      {open === 'delete' && twoFactor && <DeleteForm email={account.email} twoFactor={twoFactor} onClose={close} />}
    </DialogPart>
  );
}

function ExportForm({ twoFactor, onClose }: { twoFactor: TwoFactor; onClose: () => void }) {
  const done = useRef<HTMLButtonElement>(null);
  const { proof, form, isDone } = useProved(
    twoFactor,
    ({ password, factor }) => download(exportData, { body: { password, ...factor } }),
    (file) => {
      proof.setPassword('');
      proof.setValue('');
      saveFile('palisade-data.json', file);
      // The export button becomes disabled and would drop its focus.
      done.current?.focus();
    },
  );
  const { password } = proof;
  return (
    <Form {...form} gap="4">
      <p className="sub">You’ll get a JSON file with your account and activity, without passwords and files. Keep it private.</p>
      <ProofFields form={proof} passwordName="password" autoFocus />
      <ProofMessage form={proof} />
      <Row gap="4" rowGap="2" justify="end">
        <p role="status" className="grow shrink base medium accent off-empty">
          {isDone && password === '' && 'The file is in your downloads.'}
        </p>
        <Button ref={done} variant="quiet" onClick={onClose}>
          {isDone ? 'Done' : 'Cancel'}
        </Button>
        <Submit disabled={password === ''}>Export</Submit>
      </Row>
    </Form>
  );
}

interface DeleteFormProps {
  email: string;
  twoFactor: TwoFactor;
  onClose: () => void;
}

function DeleteForm({ email, twoFactor, onClose }: DeleteFormProps) {
  const [confirmation, setConfirmation] = useState('');
  const { proof, form } = useProved(
    twoFactor,
    ({ password, factor }) => call(deleteAccount, { body: { password, confirmation, ...factor } }),
    () => endSession('account_deleted'),
  );
  const isTyped = isSameEmail(confirmation, email);
  return (
    <Form {...form} gap="4" aria-label="Delete my account">
      <Stack gap="2" className="surface-red pad-m base">
        <p>This cannot be undone. We’ll delete:</p>
        <ul className="disc">
          {GOES.map((thing) => (
            <li key={thing}>{thing}</li>
          ))}
        </ul>
        <p>You’ll be signed out everywhere. The audit log keeps entries without your name.</p>
      </Stack>
      <TextInput
        label={`Type ${shownEmail(email)} to confirm`}
        name="confirmation"
        size="md"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        required
        withAsterisk={false}
        value={confirmation}
        onChange={(event) => setConfirmation(event.currentTarget.value)}
        error={proof.errors['confirmation']}
      />
      <ProofFields form={proof} passwordName="password" />
      <ProofMessage form={proof} />
      <Row gap="4" rowGap="2" justify="end">
        <Button variant="quiet" onClick={onClose}>
          Keep my account
        </Button>
        <Submit variant="danger" disabled={!isTyped || proof.password === ''}>
          Delete for good
        </Submit>
      </Row>
    </Form>
  );
}
