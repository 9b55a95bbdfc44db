import { TextInput } from '@mantine/core';
import { type Passkey, RECOVERY_CODES, type TwoFactor } from '@palisade/contract/two-factor';
import { IconDeviceMobile, IconFingerprint, IconLifebuoy } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { messageAt } from '#api/field-messages.ts';
import { twoFactorQuery } from '#domain/proof/proof.queries.ts';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeAge, describeDate, useMinute } from '#ui/moment.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { Factor, PasskeysElsewhere } from './factor.tsx';
import { type TwoFactorTask, useRenamePasskey } from './two-factor.queries.ts';
import './two-factor.css';

interface TwoFactorPartProps {
  /** Message of the last task; undefined before the first. */
  told: string | undefined;
  onTask: (task: TwoFactorTask, twoFactor: TwoFactor) => void;
}

/** Two-factor sign-in: its state, its factors, and actions to change them. */
export function TwoFactorPart({ told, onTask }: TwoFactorPartProps) {
  const { data: twoFactor, error, refetch } = useQuery(twoFactorQuery);
  const heading = useRef<HTMLHeadingElement>(null);
  const isUnproven = useIsUnproven();

  useEffect(() => {
    if (told !== undefined) heading.current?.focus();
  }, [told]);

  return (
    <DialogPart
      title="Two-factor sign-in"
      heading={heading}
      action={twoFactor && <Badge tone={twoFactor.enabled ? 'safe' : 'attention'}>{twoFactor.enabled ? 'On' : 'Off'}</Badge>}
    >
      <p role="status" className="grow shrink base medium accent off-empty">
        {told}
      </p>
      {!twoFactor && !error && <LoadingRows label="Loading two-factor sign-in" />}
      {!twoFactor && error && (
        <ErrorNotice title="We couldn’t load two-factor" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      <EmailNeeded sentence="You can set up two-factor sign-in after you confirm your email address." />
      {twoFactor && (!isUnproven || twoFactor.enabled) && (
        <Factors twoFactor={twoFactor} onTask={(task) => onTask(task, twoFactor)} />
      )}
    </DialogPart>
  );
}

interface FactorsProps {
  twoFactor: TwoFactor;
  onTask: (task: TwoFactorTask) => void;
}

function Factors({ twoFactor, onTask }: FactorsProps) {
  const { enabled, required, totp_since, passkeys, recovery_codes_left } = twoFactor;
  const isFew = recovery_codes_left < RECOVERY_CODES.few;
  const hasApp = totp_since !== null;
  const canAdd = twoFactor.passkey_origin === window.location.origin;
  const ofApp = (
    <Factor
      icon={IconDeviceMobile}
      title="Authenticator app"
      line={hasApp ? `In use since ${describeDate(totp_since)}` : 'A code from an app on your phone. Takes about 2 minutes.'}
      actions={
        <>
          {hasApp && passkeys.length > 0 && (
            <Button
              variant="quiet"
              size="s"
              aria-label="Remove the authenticator app"
              onClick={() => onTask({ kind: 'remove_app' })}
            >
              Remove
            </Button>
          )}
          <Button
            variant={enabled || canAdd ? 'quiet' : 'primary'}
            size="s"
            aria-label={hasApp ? 'Change the authenticator app' : 'Set up an authenticator app'}
            onClick={() => onTask({ kind: hasApp ? 'new_app' : 'app' })}
          >
            {hasApp ? 'Change' : 'Set Up'}
          </Button>
        </>
      }
    />
  );
  const ofPasskeys = (
    <Factor
      icon={IconFingerprint}
      title="Passkeys"
      line={`${canAdd && passkeys.length === 0 ? 'Recommended: your' : 'Your'} fingerprint, face, device PIN, or security key`}
      actions={
        canAdd && (
          <Button
            variant={enabled ? 'quiet' : 'primary'}
            size="s"
            aria-label="Add a passkey"
            onClick={() => onTask({ kind: 'passkey' })}
          >
            Add
          </Button>
        )
      }
    >
      <PasskeysElsewhere origin={twoFactor.passkey_origin} />
      {passkeys.length > 0 && (
        <Stack as="ul" lines className="surface-plain" aria-label="Passkeys">
          {passkeys.map((passkey) => (
            <PasskeyRow
              key={passkey.id}
              passkey={passkey}
              isLast={passkeys.length === 1 && !hasApp}
              onRemove={() => onTask({ kind: 'remove_passkey', passkey })}
            />
          ))}
        </Stack>
      )}
    </Factor>
  );
  return (
    <>
      <p className="sub">
        {enabled
          ? 'You sign in with your password and two-factor, or with a passkey. A stolen password isn’t enough.'
          : 'Your password alone signs you in. With two-factor a stolen one isn’t enough, and you get codes in case you lose your phone.'}
      </p>
      <Stack>
        {canAdd && ofPasskeys}
        {ofApp}
        {!canAdd && ofPasskeys}
        {enabled && (
          <Factor
            icon={IconLifebuoy}
            title="Recovery codes"
            line={
              <span className={isFew ? 'amber medium' : undefined}>
                {isFew
                  ? `${recovery_codes_left} of ${RECOVERY_CODES.count} left. Make new ones before you need them.`
                  : `${recovery_codes_left} of ${RECOVERY_CODES.count} left`}
              </span>
            }
            actions={
              <Button variant="quiet" size="s" onClick={() => onTask({ kind: 'codes' })}>
                New Codes
              </Button>
            }
          />
        )}
      </Stack>
      {enabled && required && (
        <p className="surface-blue pad-s small muted break">Two-factor is required, so you can’t remove your last method.</p>
      )}
      {enabled && !required && (
        <Row gap="4" rowGap="2" justify="end">
          <Button variant="quiet" size="s" onClick={() => onTask({ kind: 'off' })}>
            Turn two-factor sign-in off
          </Button>
        </Row>
      )}
    </>
  );
}

interface PasskeyRowProps {
  passkey: Passkey;
  /** The last second factor is removed by turning two-factor sign-in off. */
  isLast: boolean;
  onRemove: () => void;
}

function PasskeyRow({ passkey, isLast, onRemove }: PasskeyRowProps) {
  const [isRenaming, setIsRenaming] = useState(false);
  const now = useMinute();
  const rename = useRef<HTMLButtonElement>(null);

  // The focused field is unmounted after renaming.
  const wasRenaming = useRef(false);
  useEffect(() => {
    if (wasRenaming.current && !isRenaming) rename.current?.focus();
    wasRenaming.current = isRenaming;
  }, [isRenaming]);

  if (isRenaming) return <RenameRow passkey={passkey} onDone={() => setIsRenaming(false)} />;
  const { name, created_at, last_used_at } = passkey;
  return (
    <Grid as="li" columns="tail" phone="stack" gap="3" rowGap="1" align="center" className="pad-s">
      <Stack className="small muted break">
        <span className="base medium ink">{name}</span>
        <span>
          {last_used_at
            ? `added ${describeAge(created_at, now)}, last used ${describeAge(last_used_at, now)}`
            : `added ${describeAge(created_at, now)}, not used yet`}
        </span>
      </Stack>
      <Row gap="2" rowGap="1" justify="end">
        <Button ref={rename} variant="text" size="s" aria-label={`Rename ${name}`} onClick={() => setIsRenaming(true)}>
          Rename
        </Button>
        {!isLast && (
          <Button variant="text" size="s" aria-label={`Remove ${name}`} onClick={onRemove}>
            Remove
          </Button>
        )}
      </Row>
    </Grid>
  );
}

function RenameRow({ passkey, onDone }: { passkey: Passkey; onDone: () => void }) {
  const [name, setName] = useState(passkey.name);
  const field = useRef<HTMLInputElement>(null);
  const rename = useRenamePasskey();

  useEffect(() => field.current?.select(), []);

  function submit() {
    rename.mutate({ id: passkey.id, name }, { onSuccess: onDone });
  }

  return (
    <li className="pad-s">
      <Form gap="2" error={rename.error} busy={rename.isPending} onSubmit={submit}>
        <TextInput
          ref={field}
          aria-label={`New name of ${passkey.name}`}
          autoComplete="off"
          required
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={messageAt('name', rename.error)}
        />
        <Row gap="2" rowGap="1" justify="end">
          <Button variant="quiet" size="s" onClick={onDone}>
            Cancel
          </Button>
          <Submit size="s">Save</Submit>
        </Row>
      </Form>
    </li>
  );
}
