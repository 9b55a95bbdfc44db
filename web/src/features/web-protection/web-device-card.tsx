import { formatNumber, formatSpan, plural } from '@palisade/contract/intl';
import type { WebDevice, WebProtection } from '@palisade/contract/web-protection';
import { IconEye, IconKey, IconListDetails, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { DeviceRow } from '#domain/web-device/device-row.tsx';
import { KINDS, protectionOf } from '#domain/web-device/web-devices.ts';
import { refusedWords } from '#domain/web-device/web-words.ts';
import { ActionsMenu } from '#ui/actions-menu.tsx';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Instructions } from './instructions.tsx';
import { ShownNames } from './shown-names.tsx';
import { useRemoveDevice, useRenewKey, useShowNames } from './web-protection.queries.ts';

/** A number of hours in words: "24 hours", from two days on "3 days". */
const spanOf = (hours: number) => (hours < 48 ? formatSpan(hours, 'hour') : formatSpan(Math.ceil(hours / 24), 'day'));

const askedWords = (count: number) =>
  plural(count, {
    one: '1 website request in 24 hours',
    other: `${formatNumber(count)} website requests in 24 hours`,
  });

const OF_HOUSEHOLD = { tone: 'plain', words: 'In Household' } as const;

interface WebDeviceRowProps {
  device: WebDevice;
  web: WebProtection;
  /** Scrolls to the card; defined if the address names this device. */
  reach: ((row: HTMLElement | null) => void) | undefined;
}

/** A device with its state, and the names that were refused on it within 24 hours. */
export function WebDeviceRow({ device, web, reach }: WebDeviceRowProps) {
  const now = useMinute();
  const [areStepsShown, setAreStepsShown] = useState(false);
  const remove = useRemoveDevice();
  const renew = useRenewKey();
  const show = useShowNames();
  const { id, name, kind, names_until, usual_gap_h } = device;
  const isShowing = names_until !== null && Date.parse(names_until) > now;
  const all = device.answered + device.refused.reduce((sum, { count }) => sum + count, 0);
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => reach?.(row.current), [reach]);
  const line = all === 0 ? KINDS[kind].label : `${KINDS[kind].label} · ${askedWords(all)}`;
  const steps = { label: areStepsShown ? 'Hide steps' : 'Show steps', onSelect: () => setAreStepsShown(!areStepsShown) };
  const isWaiting = device.last_question_at === null;
  /** The agent configures the address itself. */
  const isByAgent = device.device_id !== null;
  const newAddress = {
    label: 'New address',
    icon: IconKey,
    onSelect() {
      const question = `Give “${name}” a new address? Websites don’t open on it until you enter that one there.`;
      if (window.confirm(question)) renew.mutate(id, { onSuccess: () => setAreStepsShown(true) });
    },
  };
  const action = (
    <>
      {isWaiting && !isByAgent && (
        <Button variant={areStepsShown ? 'quiet' : 'primary'} size="s" aria-expanded={areStepsShown} onClick={steps.onSelect}>
          {steps.label}
        </Button>
      )}
      <ActionsMenu
        label="Actions"
        loading={remove.isPending || renew.isPending || show.isPending}
        actions={[
          ...(isWaiting || isByAgent ? [] : [{ ...steps, icon: IconListDetails }]),
          ...(device.can_show_names && !isShowing
            ? [{ label: 'Show all names for an hour', icon: IconEye, onSelect: () => show.mutate({ id, shown: true }) }]
            : []),
          ...(isByAgent ? [] : [newAddress]),
          {
            label: 'Remove device',
            icon: IconTrash,
            onSelect() {
              const question = isByAgent
                ? `Turn off web protection on “${name}”?`
                : `Remove “${name}”? Undo the steps on it first, or websites won’t open there.`;
              if (window.confirm(question)) remove.mutate(id);
            },
          },
        ]}
      />
    </>
  );
  return (
    <li ref={row} tabIndex={-1} className="pad-row">
      <DeviceRow
        icon={KINDS[kind].icon}
        name={name}
        line={line}
        states={[protectionOf(device, now), ...(device.is_of_household ? [OF_HOUSEHOLD] : [])]}
        action={action}
      >
        {usual_gap_h !== null && (
          <p className="sub">{`Usually it asks again within ${spanOf(usual_gap_h)}. Check whether it’s switched off.`}</p>
        )}
        {device.refused.length > 0 && (
          <Row as="ul" gap="2" aria-label="Refused in 24 hours">
            {device.refused.map(({ category, count }) => (
              <li key={category}>
                <Badge tone={category === 'dangerous' ? 'danger' : 'plain'}>{refusedWords(category, count, web.services)}</Badge>
              </li>
            ))}
          </Row>
        )}
        <Refusal error={remove.error ?? renew.error ?? show.error} />
      </DeviceRow>
      {names_until !== null && <ShownNames device={device} until={names_until} />}
      {areStepsShown && (
        <div className="pad-row">
          <Instructions device={device} ways={web.ways} />
        </div>
      )}
    </li>
  );
}
