import { type Block, BROWSER_SOURCE, liftBlock } from '@palisade/contract/blocks';
import { ordinal } from '@palisade/contract/intl';
import { IconDoorOff } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { IconTile } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Countdown } from '#ui/countdown.tsx';
import { FocusKept } from '#ui/focus-kept.tsx';
import { Grid, Row } from '#ui/layout.tsx';
import { Listed } from '#ui/listed.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import { blocksQuery } from './anti-hacking.queries.ts';

const RELOAD_INTERVAL = 30_000;

const REASONS: Record<Block['rule'], string> = {
  wrong_passwords: 'Too many wrong passwords for your account',
  many_accounts: 'Wrong passwords for many accounts',
};

function describeRepeat(level: number): string {
  return ordinal(level, {
    one: `the ${level}st time`,
    two: `the ${level}nd time`,
    few: `the ${level}rd time`,
    other: `the ${level}th time`,
  });
}

/** Question before a block ends early. */
const CONFIRMATION = 'Allow sign-ins from this address again? Do this only if you, or someone you know, mistyped the password.';

/** Sources whose sign-ins to the person's account are blocked, with actions to unblock them. */
export function BlocksCard() {
  const queries = useQueryClient();
  const { data: blocks, error, refetch } = useQuery({ ...blocksQuery, refetchInterval: RELOAD_INTERVAL });
  const reload = () => queries.invalidateQueries({ queryKey: blocksQuery.queryKey });
  const lift = useChange({
    of: liftBlock,
    mutationFn: (id: string) => call(liftBlock, { params: { id } }),
  });
  const now = useMinute();
  return (
    <Card title="Active blocks" action={blocks?.length === 0 && <span className="sub">No sign-ins are blocked</span>}>
      <FocusKept>
        {lift.error && (
          <ErrorNotice
            title="The block could not be ended"
            sentence={sentenceOf(lift.error)}
            onRetry={() => lift.mutate(lift.variables)}
          />
        )}
        <Listed of="the blocks" list={{ rows: blocks, error, refetch }} empty={null}>
          {(rows) => (
            <ul aria-label="Active blocks">
              {rows.map((block) => (
                <BlockRow
                  key={block.id}
                  block={block}
                  now={now}
                  isLifting={lift.isPending && lift.variables === block.id}
                  onLift={() => {
                    if (window.confirm(CONFIRMATION)) lift.mutate(block.id);
                  }}
                  onEnd={reload}
                />
              ))}
            </ul>
          )}
        </Listed>
      </FocusKept>
    </Card>
  );
}

interface BlockRowProps {
  block: Block;
  now: number;
  isLifting: boolean;
  onLift: () => void;
  onEnd: () => void;
}

function BlockRow({ block, now, isLifting, onLift, onEnd }: BlockRowProps) {
  const { source, rule, since, until, level } = block;
  const isBrowser = source.startsWith(BROWSER_SOURCE);
  return (
    <Grid as="li" columns="both-2" phone="under" gap="4" rowGap="1" align="center" className="pad-row line-between">
      <IconTile tone="attention" icon={IconDoorOff} />
      <div>
        <p className="base medium break">
          {isBrowser ? (
            'Sign-ins from a browser that you used before are refused'
          ) : (
            <Sentence text="Sign-ins from {source} are refused" parts={{ source: <code>{source}</code> }} />
          )}
        </p>
        <Row as="p" gap="3" rowGap="0" align="stretch" className="small faint">
          <span>{REASONS[rule]}</span>
          {level > 1 && <span>{describeRepeat(level)}</span>}
          <span>
            <Sentence text="since {when}" parts={{ when: <Moment iso={since} now={now} /> }} />
          </span>
        </Row>
      </div>
      <p className="base nowrap">
        <Countdown until={Date.parse(until)} onEnd={onEnd} /> <span>left</span>
      </p>
      <Button
        variant="quiet"
        size="s"
        loading={isLifting}
        aria-label={`Allow again: ${isBrowser ? 'your browser' : source}`}
        onClick={onLift}
      >
        Allow again
      </Button>
    </Grid>
  );
}
