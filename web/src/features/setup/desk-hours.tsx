import { NumberInput, TextInput } from '@mantine/core';
import { timeZones } from '@palisade/contract/day';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import '@mantine/core/styles/NumberInput.layer.css';
import {
  changeDeskSettings,
  type DeskSettings,
  type ReadSettings,
  readDeskSettings,
  WEEKDAYS,
  type Weekday,
} from '@palisade/contract/desk';
import { IconPlus, IconX } from '@tabler/icons-react';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import { z } from 'zod';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { putRecord } from '#api/change-list.ts';
import { keepDraft } from '#api/drafts.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { keepValues, readKept } from '#api/kept-values.ts';
import { Badge } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { KeptNote } from '#ui/kept-form.tsx';
import { ZONE } from '#ui/place.ts';
import { Refusal } from '#ui/refusal.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { Toggle } from '#ui/toggle.tsx';
import './desk-hours.css';

const deskSettingsQuery = queryOptions({
  queryKey: ['desk', 'settings'],
  queryFn: ({ signal }) => call(readDeskSettings, { signal }),
});

/** Opening hours of support, and the times after which a conversation returns to Unassigned. `children` wait for these, which would move them. */
export function DeskHours({ children }: { children?: ReactNode }) {
  const { data, error, refetch } = useQuery(deskSettingsQuery);
  if (data)
    return (
      <>
        <Card title="Opening hours" action={<Badge tone="plain">Optional</Badge>}>
          <HoursForm saved={data} />
        </Card>
        <Card title="Waiting times" action={<Badge tone="plain">Optional</Badge>}>
          <TimersForm saved={data} />
        </Card>
        {children}
      </>
    );
  return (
    <>
      <Card title="Opening hours">
        {error && <ErrorNotice title="The hours could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
        {!error && <LoadingRows label="Loading the hours" />}
      </Card>
      {error && children}
    </>
  );
}

const DAY_NAMES: Record<Weekday, string> = {
  monday: 'Monday',
  tuesday: 'Tuesday',
  wednesday: 'Wednesday',
  thursday: 'Thursday',
  friday: 'Friday',
  saturday: 'Saturday',
  sunday: 'Sunday',
};

type Time = NonNullable<DeskSettings['hours']>[number];

/** Initial hours when support is not always present. */
const USUAL: readonly Time[] = WEEKDAYS.slice(0, 5).map((day) => ({ day, from: '09:00', to: '17:00' }));

/** Accepts incomplete input; the server validates the saved settings. */
const hoursSchema = z.object({
  time_zone: z.string(),
  hours: z.array(z.object({ day: z.enum(WEEKDAYS), from: z.string(), to: z.string() })).nullable(),
});
const timersSchema = z.object({ unanswered_minutes: z.number(), offline_minutes: z.number() });

/** State of one of the two forms. Each one saves its part of the settings and keeps the other part as last saved. */
function useSettingsPart<Part extends Partial<DeskSettings>>(
  place: string,
  schema: z.ZodType<Part>,
  saved: ReadSettings,
  initial: Part,
) {
  const queries = useQueryClient();
  const [kept] = useState(() => readKept(place, schema));
  const [part, setPart] = useState(kept ?? initial);
  const save = useChange({
    of: changeDeskSettings,
    mutationFn: (own: Part) => call(changeDeskSettings, { body: { ...saved, ...own } }),
    onSuccess: (settings) => {
      keepDraft(place, '');
      putRecord(queries, deskSettingsQuery.queryKey, settings);
    },
  });
  function change(changed: Partial<Part>) {
    const next = { ...part, ...changed };
    setPart(next);
    keepValues(place, next, initial);
    // The message refers to the previous values.
    if (!save.isPending) save.reset();
  }
  const isChanged = JSON.stringify(part) !== JSON.stringify(initial);
  return { part, change, save, isChanged, isKept: kept !== undefined && !save.isSuccess, messages: fieldMessagesOf(save.error) };
}

function HoursForm({ saved }: { saved: ReadSettings }) {
  const zones = useId();
  const { time_zone, hours: savedHours, unknown_time_zone } = saved;
  const { part, change, save, isChanged, isKept, messages } = useSettingsPart('hours', hoursSchema, saved, {
    time_zone,
    hours: savedHours,
  });
  const { hours } = part;
  const unknownZone =
    unknown_time_zone === undefined || part.time_zone !== time_zone || save.isSuccess
      ? undefined
      : `This server doesn’t know ${unknown_time_zone}, so hours are in UTC.`;
  // Hours set for the first time use the time zone of the person who sets them.
  const isFirst = savedHours === null && ZONE.is_known;

  return (
    <Form noValidate gap="4" className="desk-hours" error={save.error} busy={save.isPending} onSubmit={() => save.mutate(part)}>
      <Toggle
        label="Support is there day and night"
        isOn={hours === null}
        onChange={(isAlways) =>
          change(isAlways ? { hours: null } : { hours: [...USUAL], ...(isFirst && { time_zone: ZONE.name }) })
        }
      />
      <p className="sub">Customers see “away” when no one is available.</p>
      {hours !== null && (
        <>
          <TextInput
            label="Time zone"
            size="md"
            list={zones}
            description="Such as Europe/Vienna. Customers see the hours in their own time."
            error={messages['time_zone'] ?? unknownZone}
            value={part.time_zone}
            onChange={(event) => change({ time_zone: event.currentTarget.value })}
          />
          <datalist id={zones}>
            {timeZones().map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          {ZONE.is_known && part.time_zone !== ZONE.name && (
            <div>
              <Button
                variant="quiet"
                size="s"
                onClick={() => change({ time_zone: ZONE.name })}
              >{`Use ${ZONE.name}, this browser’s`}</Button>
            </div>
          )}
          <Stack>
            {WEEKDAYS.map((day) => (
              <Day key={day} day={day} times={hours} onChange={(times) => change({ hours: times })} />
            ))}
          </Stack>
        </>
      )}
      <Refusal error={'time_zone' in messages ? undefined : save.error} />
      <SettingsEnd
        saved={save.isSuccess && 'The hours are saved.'}
        isKept={isKept}
        // An unknown time zone is confirmed or replaced by saving.
        isChanged={isChanged || unknown_time_zone !== undefined}
        submit="Save the hours"
      />
    </Form>
  );
}

/** Times after which an unanswered conversation returns to Unassigned. */
function TimersForm({ saved }: { saved: ReadSettings }) {
  const { unanswered_minutes, offline_minutes } = saved;
  const { part, change, save, isChanged, isKept, messages } = useSettingsPart('waiting-times', timersSchema, saved, {
    unanswered_minutes,
    offline_minutes,
  });
  const field = { size: 'md', min: 1, max: 1_440, hideControls: true, clampBehavior: 'none' } as const;
  return (
    <Form noValidate gap="4" className="desk-hours" error={save.error} busy={save.isPending} onSubmit={() => save.mutate(part)}>
      <Grid columns="fit-m" gap="4" align="end">
        <NumberInput
          {...field}
          label="Minutes until others may answer"
          description="A conversation without an answer goes back to everyone after this time."
          allowedDecimalSeparators={['.', ',']}
          error={messages['unanswered_minutes']}
          value={shownOf(part.unanswered_minutes)}
          onChange={(value) => change({ unanswered_minutes: Number(value) })}
        />
        <NumberInput
          {...field}
          label="Minutes until someone counts as away"
          description="Others can take their conversations after this long offline."
          allowedDecimalSeparators={['.', ',']}
          error={messages['offline_minutes']}
          value={shownOf(part.offline_minutes)}
          onChange={(value) => change({ offline_minutes: Number(value) })}
        />
      </Grid>
      <Refusal error={'unanswered_minutes' in messages || 'offline_minutes' in messages ? undefined : save.error} />
      <SettingsEnd
        saved={save.isSuccess && 'The times are saved.'}
        isKept={isKept}
        isChanged={isChanged}
        submit="Save the times"
      />
    </Form>
  );
}

interface SettingsEndProps {
  saved: string | false;
  isKept: boolean;
  /** Saving is possible once the part differs from the saved one. */
  isChanged: boolean;
  submit: string;
}

function SettingsEnd({ saved, isKept, isChanged, submit }: SettingsEndProps) {
  return (
    <Row wrap={false} gap="4" justify="end">
      <p role="status" className="sub">
        {saved}
      </p>
      {isKept && <KeptNote />}
      <Submit disabled={!isChanged}>{submit}</Submit>
    </Row>
  );
}

/** Shows 0 as an empty field: otherwise typing 30 after the 0 gives 300. The server reports the missing value. */
const shownOf = (minutes: number) => (minutes === 0 ? '' : minutes);

interface DayProps {
  day: Weekday;
  times: readonly Time[];
  onChange: (times: Time[]) => void;
}

/** One day of the week: closed, or open at one or more times. */
function Day({ day, times, onChange }: DayProps) {
  const name = DAY_NAMES[day];
  const own = times.filter((time) => time.day === day);
  return (
    <Row as="fieldset" gap="3" rowGap="1" className="desk-hours__day pad-line shrink line-below">
      <legend className="base medium">{name}</legend>
      {own.length === 0 && <span className="sub">Closed</span>}
      {own.map((time, index) => {
        const which = own.length === 1 ? name : `${name}, time ${index + 1}`;
        const change = (part: Partial<Time>) => onChange(times.map((other) => (other === time ? { ...other, ...part } : other)));
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a time has no other identity than its position in the day
          <Row as="span" inline gap="2" key={index} className="small muted">
            <input
              className="field"
              type="time"
              aria-label={`${which}: from`}
              value={time.from}
              onChange={(event) => change({ from: event.currentTarget.value })}
            />
            <span aria-hidden="true">to</span>
            {/* A time field cannot show 24:00. */}
            <input
              className="field"
              type="time"
              aria-label={`${which}: to`}
              value={time.to === '24:00' ? '00:00' : time.to}
              onChange={(event) => change({ to: event.currentTarget.value === '00:00' ? '24:00' : event.currentTarget.value })}
            />
            {time.to <= time.from && <span className="sub desk-hours__next">next day</span>}
            <button
              type="button"
              className="icon-button"
              aria-label={`${which}: remove`}
              onClick={() => onChange(times.filter((other) => other !== time))}
            >
              <IconX size={16} stroke={2} aria-hidden="true" />
            </button>
          </Row>
        );
      })}
      <button
        type="button"
        className="icon-button"
        aria-label={`${name}: add a time`}
        onClick={() =>
          onChange([...times, own.length === 0 ? { day, from: '09:00', to: '17:00' } : { day, from: '18:00', to: '20:00' }])
        }
      >
        <IconPlus size={16} stroke={2} aria-hidden="true" />
      </button>
    </Row>
  );
}
