import { TextInput } from '@mantine/core';
import { currentUser, proveEmail, sendEmailProof } from '@palisade/contract/auth';
import { shownEmail } from '@palisade/contract/shown-email';
import { useState } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { type Config, useConfig } from '#api/config.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { refreshUser, useSession } from '#api/session.ts';
import { Button } from '#ui/button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Row } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import './email-proof.css';

/** Sends the code, then updates the signed-in person, which enables the actions that waited for it. */
function useProveEmail() {
  return useChange({
    of: proveEmail,
    mutationFn: async (token: string) => {
      await call(proveEmail, { body: { token } });
      refreshUser(await call(currentUser));
    },
  });
}

/** Sentences for each place that an email can go to: the inbox, the administrator's outbox without a mail server, or the server's outbox if no administrator exists. */
const PLACES = {
  inbox: { first: 'We sent a code to {email}.', again: 'Another email is on its way.' },
  administrator: {
    first: 'Emails from this installation wait with your administrator. Ask them for the code for {email}.',
    again: 'Another email waits with your administrator.',
  },
  server: {
    first:
      'No mail server is set, so the code waits on the server: "palisade outbox" prints it there. It was written to {email}.',
    again: 'Another code waits on the server.',
  },
} as const;

function placeOf(config: Config | undefined): keyof typeof PLACES {
  if (config?.reset_delivery !== 'outbox') return 'inbox';
  return config.administrator === 'there' ? 'administrator' : 'server';
}

interface EmailProofFormProps {
  /** The code from the page's address, if it has one. */
  code?: string;
  onProved?: () => void;
}

/** The field for the code of the confirmation email, and a button to send the email again. */
export function EmailProofForm({ code = '', onProved }: EmailProofFormProps) {
  const [token, setToken] = useState(code);
  const prove = useProveEmail();
  const sendAgain = useChange({ mutationFn: () => call(sendEmailProof) });
  const config = useConfig();
  const place = PLACES[placeOf(config)];
  const email = useSession().session?.user_info.email;
  const message = prove.error ? fieldMessagesOf(prove.error)['token'] : undefined;

  function submit() {
    prove.mutate(token.trim(), { onSuccess: () => onProved?.() });
  }

  return (
    <Form gap="4" className="email-proof" error={prove.error} busy={prove.isPending} onSubmit={submit} onEdit={prove.reset}>
      <p className="sub">
        <Sentence text={place.first} parts={{ email: <bdi>{shownEmail(email ?? '')}</bdi> }} /> It works once, within 24 hours.
        Other people who are signed in to this account are signed out then.
      </p>
      <TextInput
        label="Confirmation code"
        description="Twelve letters and digits. Capitals, dashes and blanks do not matter."
        autoCapitalize="characters"
        spellCheck={false}
        name="token"
        autoComplete="one-time-code"
        required
        withAsterisk={false}
        size="md"
        maxLength={200}
        value={token}
        onChange={(event) => setToken(event.currentTarget.value)}
        error={message}
      />
      {!message && <Refusal error={prove.error} />}
      <Refusal error={sendAgain.error} />
      <Row gap="4" rowGap="2" justify="end">
        <p role="status" className="grow shrink base medium accent off-empty">
          {sendAgain.isSuccess && place.again}
        </p>
        <Button variant="quiet" loading={sendAgain.isPending} onClick={() => sendAgain.mutate()}>
          Resend email
        </Button>
        <Submit disabled={token.trim() === ''}>Confirm</Submit>
      </Row>
    </Form>
  );
}
