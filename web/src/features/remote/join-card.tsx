import { TextInput } from '@mantine/core';
import { sessionCodeSchema } from '@palisade/contract/remote';
import { useState } from 'react';
import { useLocation } from 'react-router';
import { z } from 'zod';
import { sentenceOf } from '#api/call.ts';
import { Card } from '#ui/card.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid } from '#ui/layout.tsx';
import { useJoinSession } from './remote.queries.ts';

/** Navigation state with the session code, from the card of a conversation. */
const broughtSchema = z.object({ session_code: z.string() });

/** The form in which a technician enters a customer’s code. The workspace replaces it after joining. */
export function JoinCard() {
  const join = useJoinSession();
  const location = useLocation();
  const [typed, setTyped] = useState(() => broughtSchema.safeParse(location.state).data?.session_code ?? '');
  const [error, setError] = useState<string>();

  function submit() {
    const code = sessionCodeSchema.safeParse(typed);
    if (!code.success) {
      setError(code.error.issues[0]?.message);
      return;
    }
    join.mutate(code.data, { onSuccess: () => setTyped(''), onError: (refused) => setError(sentenceOf(refused)) });
  }

  return (
    <Card title="Join a session" level="raised">
      <Form className="join" error={error} busy={join.isPending} onSubmit={submit} onEdit={() => setError(undefined)} noValidate>
        <TextInput
          size="md"
          label="Session code"
          description="Capitals, dashes, and spaces don’t matter."
          placeholder="K7M-4QP-9XD"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={64}
          value={typed}
          error={error}
          inputContainer={(field) => (
            <Grid gap="3" align="center" justify="start" className="join__line">
              {field}
              <Submit disabled={typed.trim() === ''}>Join</Submit>
            </Grid>
          )}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      </Form>
    </Card>
  );
}
