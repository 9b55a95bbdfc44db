import { TextInput } from '@mantine/core';
import { useMemo, useRef, useState } from 'react';
import { encode } from 'uqr';
import { messageAt } from '#api/field-messages.ts';
import { Button } from '#ui/button.tsx';
import { CopyButton } from '#ui/copy-button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { type AppSetup as Setup, useActivateTotp } from './two-factor.queries.ts';

/** White border of a QR code that readers require, in modules (ISO/IEC 18004, section 6.3.8). */
const QUIET_ZONE = 4;
const WHOLE_CODE = /^\d{6}$/u;

/** A QR code, dark on white in both colour schemes, because some readers cannot read inverted codes. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
    const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
    return { size, path: modules.join('') };
  }, [text]);
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path fill="#000" d={path} />
    </svg>
  );
}

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
    <Form className="account-form" error={activate.error} busy={activate.isPending} onSubmit={() => send(code)}>
      <ol className="app-setup">
        <li>
          <p className="app-setup__step">Scan this with your authenticator app</p>
          <div className="app-setup__share">
            <QrCode text={setup.uri} label="QR code for your authenticator app" />
            <div className="app-setup__text">
              <p className="sub">
                <Sentence
                  text="Can’t scan it? Type this key into the app, or {link}."
                  parts={{ link: <a href={setup.uri}>open it in an app on this device</a> }}
                />
              </p>
              <code className="app-setup__secret">{groups.join(' ')}</code>
              <CopyButton size="s" text={setup.secret} copied="The key was copied." label="Copy key" />
            </div>
          </div>
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
      </ol>
      <div className="two-factor__actions">
        <Button variant="quiet" onClick={onBack}>
          Back
        </Button>
        <Submit>Turn On</Submit>
      </div>
    </Form>
  );
}
