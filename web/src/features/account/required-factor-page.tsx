import { shownEmail } from '@palisade/contract/shown-email';
import { IconDeviceMobile, IconFingerprint, IconShieldLock } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { useConfig } from '#api/config.ts';
import { holdSession, type Session } from '#api/session.ts';
import { twoFactorQuery } from '#domain/proof/proof.queries.ts';
import { Brand } from '#ui/brand.tsx';
import { Button } from '#ui/button.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { EmailProofForm } from './email-proof.tsx';
import { Factor, PasskeysElsewhere } from './factor.tsx';
import type { TwoFactorTask } from './two-factor.queries.ts';
import { TwoFactorSteps } from './two-factor-steps.tsx';
import '#ui/badge.css';
import '#ui/card.css';
import './required-factor-page.css';

interface RequiredFactorPageProps {
  session: Session;
  onSignOut: () => void;
}

/** The only page of a person who must set up a second factor. */
export function RequiredFactorPage({ session, onSignOut }: RequiredFactorPageProps) {
  const config = useConfig();
  const provider = config?.provider_name ?? 'Palisade';
  const { data: twoFactor, error, refetch } = useQuery(twoFactorQuery);
  const [task, setTask] = useState<TwoFactorTask>();
  const [confirmedUntil, setConfirmedUntil] = useState(0);
  const heading = useRef<HTMLHeadingElement>(null);
  // Also true if another tab set it up, or it is no longer required. Never before the recovery codes have been shown.
  const isFree = task === undefined && twoFactor !== undefined && (twoFactor.enabled || !twoFactor.required);
  const { access_token, user_info, email_unproven } = session;
  // The link of the email has the code in its fragment.
  const [code] = useState(() => (window.location.pathname === '/confirm-email' ? window.location.hash.slice(1) : ''));

  useEffect(() => {
    document.title = `One more step · ${provider}`;
  }, [provider]);

  useEffect(() => {
    if (isFree) holdSession(access_token, undefined);
  }, [isFree, access_token]);

  // The focused element of the previous screen or step is unmounted. The heading has the focus as soon as it is shown.
  useLayoutEffect(() => {
    if (task === undefined) heading.current?.focus();
  }, [task]);

  return (
    <Grid className="required-factor">
      <header className="pad-l">
        <Brand provider={config?.provider_name} />
      </header>
      <Stack as="main" gap="4" className="required-factor__main">
        <Stack gap="5" className="card">
          {task && twoFactor ? (
            <TwoFactorSteps
              rank="h1"
              task={task}
              twoFactor={twoFactor}
              isConfirmed={Date.now() < confirmedUntil}
              onConfirmed={(seconds) => setConfirmedUntil(Date.now() + seconds * 1_000)}
              onLeave={() => setTask(undefined)}
            />
          ) : (
            <>
              <span className="icon-tile" data-size="l" aria-hidden="true">
                <IconShieldLock size={28} stroke={1.7} />
              </span>
              <Stack gap="2">
                <h1 ref={heading} tabIndex={-1}>
                  Set up two-factor to continue
                </h1>
                <p className="sub">
                  Two-factor is required here, so a stolen password isn’t enough. Setup takes a minute, then you’ll continue.
                </p>
              </Stack>
              {!twoFactor && !error && <LoadingRows label="Loading two-factor sign-in" />}
              {!twoFactor && error && (
                <ErrorNotice
                  title="Two-factor sign-in could not be read"
                  sentence={sentenceOf(error)}
                  onRetry={() => void refetch()}
                />
              )}
              {email_unproven && (
                <>
                  <p>Confirm your email address first.</p>
                  <EmailProofForm code={code} />
                </>
              )}
              {twoFactor && !email_unproven && (
                <Stack>
                  <Factor
                    icon={IconDeviceMobile}
                    title="Authenticator app"
                    line="A code from an app on your phone"
                    actions={
                      <Button aria-label="Set up an authenticator app" onClick={() => setTask({ kind: 'app' })}>
                        Set Up
                      </Button>
                    }
                  />
                  <Factor
                    icon={IconFingerprint}
                    title="Passkey"
                    line="Your fingerprint, face, device PIN or security key"
                    actions={
                      twoFactor.passkey_origin === window.location.origin && (
                        <Button variant="quiet" aria-label="Add a passkey" onClick={() => setTask({ kind: 'passkey' })}>
                          Add
                        </Button>
                      )
                    }
                  >
                    <PasskeysElsewhere origin={twoFactor.passkey_origin} />
                  </Factor>
                </Stack>
              )}
            </>
          )}
        </Stack>
        <Row gap="4" rowGap="0" justify="between" className="base muted break">
          <p>
            <Sentence text="Signed in as {email}" parts={{ email: <strong>{shownEmail(user_info.email)}</strong> }} />
          </p>
          <Button variant="text" onClick={onSignOut}>
            Sign Out
          </Button>
        </Row>
      </Stack>
    </Grid>
  );
}
