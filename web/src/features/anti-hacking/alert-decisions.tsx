import type { AlertDetail } from '@palisade/contract/alerts';
import { formatNumber, plural } from '@palisade/contract/intl';
import { IconCheck, IconEye, IconRotate, IconUserCheck, IconUserX } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { useSettleInfections } from '#domain/scan/infections.ts';
import { ActionsMenu, type MenuAction } from '#ui/actions-menu.tsx';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { placeOf } from './alert-action.tsx';
import { useAcknowledgeAlert, useDisownAlert, useReopenAlert, useResolveAlert } from './alerts.queries.ts';
import { ResolveForm } from './resolve-form.tsx';
import { isOriginalLeft } from './threat.tsx';

interface AlertDecisionsProps {
  alert: AlertDetail;
  onChangePassword: () => void;
}

/** Buttons for the decisions that an alert allows: the main one as a question or button, the others in a menu. */
export function AlertDecisions({ alert, onChangePassword }: AlertDecisionsProps) {
  const acknowledge = useAcknowledgeAlert(alert.id);
  const resolve = useResolveAlert(alert.id);
  const reopen = useReopenAlert(alert.id);
  const disown = useDisownAlert(alert.id);
  const asked = useId();
  const [isResolving, setIsResolving] = useState(false);
  const isPending = acknowledge.isPending || resolve.isPending || reopen.isPending || disown.isPending;
  const error = acknowledge.error ?? reopen.error ?? disown.error ?? (isResolving ? null : resolve.error);
  const isOpen = alert.status !== 'resolved';
  const isDisowned = alert.decisions[0]?.kind === 'not_me';
  const isAsked = isOpen && alert.about_sign_in && !isDisowned;
  const place = isAsked ? undefined : placeOf(alert);
  // An alert about a file that is still on the device should not be resolved easily, so Resolve is in the menu.
  const left = isOriginalLeft(alert) ? alert.scan_id : null;
  const isUnseen = alert.status === 'open';
  const seesFirst = isUnseen && !isAsked && !place;
  const others: MenuAction[] = [
    ...(isUnseen && !seesFirst ? [{ label: 'Mark as seen', icon: IconEye, onSelect: () => acknowledge.mutate() }] : []),
    ...(isAsked || left !== null ? [{ label: 'Resolve', icon: IconCheck, onSelect: () => setIsResolving(true) }] : []),
  ];

  return (
    <Stack gap="3" className="above-1">
      {isDisowned && (
        <NotMe
          sessions_ended={disown.data?.sessions_ended}
          offersTwoFactor={disown.data?.offer_two_factor ?? false}
          onChangePassword={onChangePassword}
        />
      )}
      {isAsked && (
        <Stack role="group" gap="2" aria-labelledby={asked} className="surface-plain pad-m">
          <b id={asked} className="bold">
            Was this you?
          </b>
          <Grid columns="fit-m" gap="2">
            <Button icon={IconUserX} disabled={isPending} loading={disown.isPending} onClick={() => disown.mutate()}>
              It wasn’t me
            </Button>
            <Button
              variant="quiet"
              icon={IconUserCheck}
              disabled={isPending}
              loading={resolve.isPending && !isResolving}
              onClick={() => resolve.mutate({ reason: 'was_me' })}
            >
              It was me
            </Button>
          </Grid>
        </Stack>
      )}
      <Refusal error={error} />
      {!isResolving && (
        <Row gap="2" phone="fill">
          {left !== null && <OriginalDeleted scan_id={left} />}
          {place && isOpen && (
            <ScreenLink to={place.to} size="s" variant={left === null ? 'primary' : 'quiet'}>
              {left === null ? place.label : 'Scan details'}
            </ScreenLink>
          )}
          {seesFirst && (
            <Button
              size="s"
              icon={IconEye}
              loading={acknowledge.isPending}
              disabled={isPending}
              onClick={() => acknowledge.mutate()}
            >
              Mark as seen
            </Button>
          )}
          {isOpen && !isAsked && left === null && (
            <Button
              variant={isUnseen || place ? 'quiet' : 'primary'}
              size="s"
              icon={IconCheck}
              disabled={isPending}
              onClick={() => setIsResolving(true)}
            >
              Resolve
            </Button>
          )}
          <ActionsMenu actions={others} disabled={isPending} loading={acknowledge.isPending} />
          {!isOpen && (
            <Button
              variant="quiet"
              size="s"
              icon={IconRotate}
              disabled={isPending}
              loading={reopen.isPending}
              onClick={() => reopen.mutate()}
            >
              Reopen
            </Button>
          )}
        </Row>
      )}
      {/* Stays open if the alert was resolved elsewhere, so that written text is not lost. */}
      {isResolving && (
        <ResolveForm
          alert={alert}
          error={resolve.error}
          isPending={resolve.isPending}
          onResolve={(resolution) => resolve.mutate(resolution, { onSuccess: () => setIsResolving(false) })}
          onCancel={() => {
            resolve.reset();
            setIsResolving(false);
          }}
        />
      )}
    </Stack>
  );
}

/** Says that the infected file on the device is deleted. */
function OriginalDeleted({ scan_id }: { scan_id: string }) {
  const settle = useSettleInfections();
  return (
    <>
      <Button
        size="s"
        icon={IconCheck}
        loading={settle.isPending}
        onClick={() => settle.mutate({ scan_ids: [scan_id], deleted: true })}
      >
        I deleted it
      </Button>
      <Refusal error={settle.error} />
    </>
  );
}

interface NotMeProps {
  /** Available only right after the answer. */
  sessions_ended: number | undefined;
  offersTwoFactor: boolean;
  onChangePassword: () => void;
}

/** The effect of "It wasn’t me", and the next step. */
function NotMe({ sessions_ended, offersTwoFactor, onChangePassword }: NotMeProps) {
  return (
    <Stack role="status" gap="3" align="start" className="surface-amber pad-m">
      <p>
        <b>{describeEnded(sessions_ended)}</b> They may know your password, so choose a new one now.
        {offersTwoFactor && ' Then turn on two-factor, so a password alone isn’t enough.'}
      </p>
      <Button onClick={onChangePassword}>Choose a new password</Button>
    </Stack>
  );
}

function describeEnded(sessions_ended: number | undefined): string {
  if (sessions_ended === undefined) return 'You said it wasn’t you.';
  if (sessions_ended === 0) return 'They have no open session.';
  return plural(sessions_ended, {
    one: 'That session has ended. They’re signed out.',
    other: `${formatNumber(sessions_ended)} sessions have ended. They’re signed out.`,
  });
}
