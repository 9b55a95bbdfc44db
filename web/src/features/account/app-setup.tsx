import { TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { messageAt } from '#api/field-messages.ts';
import { Button } from '#ui/button.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { QrCode } from '#ui/qr-code.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { type AppSetup as Setup, useActivateTotp } from './two-factor.queries.ts';

const WHOLE_CODE = /^\d{6}$/u;

interface AppSetupProps {
  setup: Setup;
  onActivated: (codes: string[] | null) => void;
  onBack: () => void;
}

/** Shares a secret with the person's authenticator app. The first code proves that the app has it. */
export function AppSetup({ setup, onActivated, onBack }: AppSetupProps) {
  const [code, setCode] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const activate = useActivateTotp();
  const groups = setup.secret.match(/.{1,4}/gu) ?? [];

  /** A complete code is submitted without a press. */
  function type(typed: string) {
    setCode(typed);
    if (WHOLE_CODE.test(typed.replaceAll(' ', '')) && !activate.isPending) send(typed);
    else if (activate.error) activate.reset();
  }

  function send(typed: string) {
    activate.mutate(typed, {
      onSuccess: ({ recovery_codes }) => onActivated(recovery_codes),
      onError: () => field.current?.select(),
    });
  }

  return (
    <Form gap="4" error={activate.error} busy={activate.isPending} onSubmit={() => send(code)}>
      <Stack as="ol" gap="5">
        <li>
          <p className="base medium below-2">Scan this with your authenticator app</p>
          <Grid columns="2" phone="stack" gap="4" align="center">
            <QrCode text={setup.uri} label="QR code for your authenticator app" />
            <Stack gap="2" align="start">
              <p className="sub">
                <Sentence
                  text="Can’t scan it? Type this key into the app, or {link}."
                  parts={{ link: <a href={setup.uri}>open it in an app on this device</a> }}
                />
              </p>
              <code className="mono medium ink">{groups.join(' ')}</code>
              <CopyButton size="s" text={setup.secret} copied="The key was copied." label="Copy key" />
            </Stack>
          </Grid>
        </li>
        <li>
          <TextInput
            ref={field}
            label="Enter the code that the app shows"
            description="Six digits, new every 30 seconds."
            className="second-factor__code"
            inputMode="numeric"
            autoComplete="one-time-code"
            required
            withAsterisk={false}
            size="md"
            // The person opened this step, and it has only this field.
            autoFocus
            value={code}
            onChange={(event) => type(event.currentTarget.value)}
            error={messageAt('code', activate.error)}
          />
        </li>
      </Stack>
      <Row wrap={false} gap="3" align="stretch" justify="between" className="two-factor__actions">
        <Button variant="quiet" onClick={onBack}>
          Back
        </Button>
        <Submit>Turn On</Submit>
      </Row>
    </Form>
  );
}
