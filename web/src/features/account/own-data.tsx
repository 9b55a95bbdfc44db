import { TextInput } from '@mantine/core';
import type { Account } from '@palisade/contract/auth';
import { deleteAccount, exportData } from '@palisade/contract/privacy';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { call, download, sentenceOf } from '#api/call.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { endSession } from '#api/session.ts';
import { Button } from '#ui/button.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import { saveFile } from '#ui/save-file.ts';

/** What goes with an account, in the order in which somebody would miss it. */
const GOES = [
  'your scans, and every file in quarantine',
  'your firewall rules, alerts and remote sessions',
  'your conversation with support',
  'your subscription, without refund or return',
];

/** All of one's data as a file, and the end of the account. Each opens when it is asked for. */
export function OwnData({ account }: { account: Account }) {
  const [open, setOpen] = useState<'export' | 'delete'>();
  const close = () => setOpen(undefined);
  return (
    <DialogPart title="Your data">
      {open === undefined && (
        <>
          <p className="sub">Everything that is kept about you as one file, or the end of the account with everything in it.</p>
          <div className="account-part__actions">
            <Button variant="quiet" onClick={() => setOpen('export')}>
              Export my data
            </Button>
            <Button variant="quiet" onClick={() => setOpen('delete')}>
              Delete my account
            </Button>
          </div>
        </>
      )}
      {open === 'export' && <ExportForm onClose={close} />}
      {open === 'delete' && <DeleteForm email={account.email} onClose={close} />}
    </DialogPart>
  );
}

function ExportForm({ onClose }: { onClose: () => void }) {
  const [password, setPassword] = useState('');
  const save = useMutation({
    mutationFn: () => download(exportData, { body: { password } }),
    onSuccess: (file) => {
      setPassword('');
      saveFile('palisade-data.json', file);
    },
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    save.mutate();
  }

  return (
    <form className="account-form" onSubmit={submit}>
      <p className="sub">
        A JSON file with your account, sessions, scans, alerts, rules, messages, plans and activity. It holds no passwords and no
        files. Keep it where only you can read it.
      </p>
      <PasswordField
        label="Your password"
        autoComplete="current-password"
        autoFocus
        required
        value={password}
        onChange={(event) => {
          setPassword(event.currentTarget.value);
          save.reset();
        }}
        error={save.error && (fieldMessagesOf(save.error)['password'] ?? sentenceOf(save.error))}
      />
      <div className="account-form__end">
        <p role="status" className="account-form__done">
          {save.isSuccess && password === '' && 'The file is in your downloads.'}
        </p>
        <Button variant="quiet" onClick={onClose}>
          {save.isSuccess ? 'Done' : 'Cancel'}
        </Button>
        <Button type="submit" loading={save.isPending} disabled={password === ''}>
          Export
        </Button>
      </div>
    </form>
  );
}

function DeleteForm({ email, onClose }: { email: string; onClose: () => void }) {
  const [password, setPassword] = useState('');
  const [confirmation, setConfirmation] = useState('');
  const [code, setCode] = useState('');
  // Asked for once the server wants it: it knows whether two-factor sign-in is on.
  const [wantsCode, setWantsCode] = useState(false);
  const remove = useMutation({
    mutationFn: () => call(deleteAccount, { body: { password, confirmation, ...(code !== '' && { second_factor: code }) } }),
    onSuccess: () => endSession(),
    onError: (error) => setWantsCode((before) => before || 'second_factor' in fieldMessagesOf(error)),
  });
  const messages = remove.error ? fieldMessagesOf(remove.error) : {};
  const isSaid = Object.keys(messages).length > 0;
  const isTyped = confirmation.trim().toLowerCase() === email;

  function submit(event: FormEvent) {
    event.preventDefault();
    if (isTyped) remove.mutate();
  }

  return (
    <form className="account-form account-form--grave" onSubmit={submit} aria-label="Delete my account">
      <div className="account-warning">
        <p>This cannot be undone. At once and for good go:</p>
        <ul>
          {GOES.map((thing) => (
            <li key={thing}>{thing}</li>
          ))}
        </ul>
        <p>You are signed out everywhere. Of what you did, only nameless entries in the audit log stay.</p>
      </div>
      <TextInput
        label={`Type ${email} to confirm`}
        size="md"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        required
        withAsterisk={false}
        value={confirmation}
        onChange={(event) => setConfirmation(event.currentTarget.value)}
        error={messages['confirmation']}
      />
      <PasswordField
        label="Your password"
        autoComplete="current-password"
        required
        value={password}
        onChange={(event) => {
          setPassword(event.currentTarget.value);
          remove.reset();
        }}
        error={messages['password']}
      />
      {wantsCode && (
        <TextInput
          label="Code or recovery code"
          description="From your authenticator app, or one of your recovery codes."
          size="md"
          autoComplete="one-time-code"
          autoFocus
          required
          withAsterisk={false}
          value={code}
          onChange={(event) => {
            setCode(event.currentTarget.value.trim());
            remove.reset();
          }}
          error={code === '' ? undefined : messages['second_factor']}
        />
      )}
      {remove.error && !isSaid && (
        <p role="alert" className="account-form__failed">
          {sentenceOf(remove.error)}
        </p>
      )}
      <div className="account-form__end">
        <Button variant="quiet" onClick={onClose}>
          Keep my account
        </Button>
        <Button type="submit" loading={remove.isPending} disabled={!isTyped || password === ''}>
          Delete for good
        </Button>
      </div>
    </form>
  );
}
