import { useQuery } from '@tanstack/react-query';
import { CallError } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { canPush, NotAllowed, pushQuery, useRemovePush, useSetPush } from './push.queries.ts';

function reasonOf(error: Error): string {
  if (error instanceof CallError) return error.sentence;
  return error instanceof NotAllowed
    ? 'Your browser blocks notifications. Allow them in its settings for this site.'
    : 'Your browser couldn’t turn notifications on. Try again later.';
}

/** Notifications to this browser while the application is closed. Off by default. */
export function PushPart() {
  const { data: { browsers, isOn } = { browsers: [], isOn: false } } = useQuery(pushQuery);
  const set = useSetPush();
  const remove = useRemovePush();
  const now = useMinute();
  return (
    <DialogPart title="Notifications on this device">
      {canPush() ? (
        <>
          <Toggle
            label="Support answers and serious alerts"
            isOn={set.isPending ? set.variables : isOn}
            onChange={(next) => set.mutate(next)}
          />
          <p className="sub">You get them while Palisade is closed, until you sign out. They never show the content.</p>
          <Refusal error={set.error}>{set.error && reasonOf(set.error)}</Refusal>
        </>
      ) : (
        <p className="sub">This browser can’t show notifications at this address.</p>
      )}
      {browsers.length > 0 && (
        <ul aria-label="Browsers with notifications">
          {browsers.map(({ id, client, created_at, current }) => (
            <Grid key={id} as="li" columns="both" phone="under" gap="3" align="center" className="pad-row line-between">
              <Stack className="small muted break">
                <span className="base medium ink">{current ? `${client} (this session)` : client}</span>
                <span>
                  <Sentence text="since {when}" parts={{ when: <Moment iso={created_at} now={now} /> }} />
                </span>
              </Stack>
              <Button
                variant="quiet"
                size="s"
                aria-label={`Remove notifications of ${client}`}
                onClick={() => (current ? set.mutate(false) : remove.mutate(id))}
              >
                Remove
              </Button>
            </Grid>
          ))}
        </ul>
      )}
      <Refusal error={remove.error}>{remove.error && reasonOf(remove.error)}</Refusal>
    </DialogPart>
  );
}
