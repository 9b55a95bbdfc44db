import type { BlockedSource, Device } from '@palisade/contract/devices';
import { addRule, editRule, type Rule } from '@palisade/contract/firewall';
import { formatList, formatNumber, plural } from '@palisade/contract/intl';
import { IconBan } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { blockedQuery } from '#domain/device/devices.ts';
import { IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { EmptyState } from '#ui/states.tsx';
import { allowanceOf } from './allowance.ts';

const SHOWN = 8;

interface BlockedCardProps {
  devices: readonly Device[];
  /** Undefined until all rules are loaded. */
  rules: readonly Rule[] | undefined;
  onWant: () => void;
}

/** Packets that devices dropped within the last hour, with a button to allow them. */
export function BlockedCard({ devices, rules, onWant }: BlockedCardProps) {
  const { data: blocked } = useQuery(blockedQuery);
  const [shown, setShown] = useState(SHOWN);
  const names = new Map(devices.map(({ id, device_name }) => [id, device_name]));
  const { mutate, isPending, error, variables, isSuccess } = useChange({
    of: [addRule, editRule],
    mutationFn: async (source: BlockedSource) => {
      const allowance = rules && allowanceOf(rules, source);
      if (allowance === undefined) return;
      // Added rules come first, so that no other connection is open in between.
      for (const rule of allowance.added) await call(addRule, { body: rule });
      for (const { rule, terms } of allowance.narrowed) await call(editRule, { params: { id: rule.id }, body: terms });
    },
  });

  function allow(source: BlockedSource) {
    const allowance = rules && allowanceOf(rules, source);
    if (allowance === undefined) {
      window.alert('A rule blocks exactly this connection. Edit or delete that rule.');
      return;
    }
    const through = formatList(allowance.narrowed.map(({ rule }) => `“${rule.rule_name}”`));
    const question =
      through === ''
        ? `Allow ${describe(source)}?`
        : `Exclude ${source.address} from ${through}? The rule won’t block it anymore.`;
    if (window.confirm(question)) mutate(source);
  }

  const rows = blocked?.sources.slice(0, shown) ?? [];
  const left = (blocked?.sources.length ?? 0) - shown;
  return (
    <Card title="Blocked in the last hour">
      <Refusal error={error} />
      <p role="status" className="visually-hidden">
        {isSuccess && variables ? `Allowed ${describe(variables)}.` : ''}
      </p>
      {blocked && rows.length === 0 && (
        <EmptyState
          isSmall
          icon={IconBan}
          iconSize={24}
          title="Nothing blocked"
          sentence="Connections that your devices block appear here for an hour."
        />
      )}
      <Stack as="ul" lines aria-label="Blocked">
        {rows.map((source) => (
          <BlockedRow
            key={`${source.device_id} ${source.direction} ${source.protocol} ${source.address} ${source.port}`}
            source={source}
            deviceName={names.get(source.device_id) ?? ''}
            isBusy={isPending && variables === source}
            onAllow={rules === undefined ? onWant : () => allow(source)}
          />
        ))}
      </Stack>
      {left > 0 && <ShowMore left={left} onMore={() => setShown(shown + 50)} />}
    </Card>
  );
}

function describe({ direction, protocol, address, port }: BlockedSource): string {
  const name = protocol.toUpperCase();
  if (direction === 'inbound') return port === null ? `${address} to ${name}` : `${address} to port ${port} (${name})`;
  return port === null ? `this computer to ${address}, ${name}` : `this computer to ${address}, port ${port} (${name})`;
}

interface BlockedRowProps {
  source: BlockedSource;
  deviceName: string;
  isBusy: boolean;
  onAllow: () => void;
}

function BlockedRow({ source, deviceName, isBusy, onAllow }: BlockedRowProps) {
  const now = useMinute();
  const device = <bdi>{deviceName}</bdi>;
  const last = <Moment iso={source.last_at} now={now} />;
  return (
    <Grid as="li" columns="both" phone="under" gap="3" align="center" className="pad-row">
      <IconTile tone="note" icon={IconBan} />
      <div>
        <p className="medium break">{describe(source)}</p>
        <p className="sub">
          <Sentence
            text={plural(source.packets, {
              one: '1 packet on {device}, last {last}',
              other: '{count} packets on {device}, last {last}',
            })}
            parts={{ count: formatNumber(source.packets), device, last }}
          />
        </p>
      </div>
      {source.protocol !== 'other' && (
        <Button size="s" variant="quiet" loading={isBusy} aria-label={`Allow this: ${describe(source)}`} onClick={onAllow}>
          Allow this
        </Button>
      )}
    </Grid>
  );
}
