import { NumberInput, TextInput } from '@mantine/core';
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
import { useId, useState } from 'react';
import { z } from 'zod';
import { call, sentenceOf } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { putRecord } from '#api/change-list.ts';
import { keepDraft } from '#api/drafts.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { keepValues, readKept } from '#api/kept-values.ts';
import { Card } from '#ui/card.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { KeptNote } from '#ui/kept-form.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { Toggle } from '#ui/toggle.tsx';
import './desk-hours.css';

const deskSettingsQuery = queryOptions({
  queryKey: ['desk', 'settings'],
  queryFn: ({ signal }) => call(readDeskSettings, { signal }),
});

/** When support is there, and when a conversation that nobody answers goes back to all. */
export function DeskHours() {
  const { data, error, refetch } = useQuery(deskSettingsQuery);
  return (
    <Card title="Hours of support">
      {error && <ErrorNotice title="The hours could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />}
      {!data && !error && <LoadingRows label="Loading the hours" />}
      {data && <HoursForm initial={data} />}
    </Card>
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

/** Initial hours when support is not always there. */
const USUAL: readonly Time[] = WEEKDAYS.slice(0, 5).map((day) => ({ day, from: '09:00', to: '17:00' }));

/** Where this browser keeps what was chosen here and not saved. */
const PLACE = 'hours';
/** As it is chosen: the server judges what is saved. */
const keptSchema: z.ZodType<DeskSettings> = z.object({
  time_zone: z.string(),
  hours: z.array(z.object({ day: z.enum(WEEKDAYS), from: z.string(), to: z.string() })).nullable(),
  unanswered_minutes: z.number(),
  offline_minutes: z.number(),
});

/** A refusal of the server is shown at the field. */
const SHOWN_AT_FIELDS = ['time_zone', 'unanswered_minutes', 'offline_minutes'];

function HoursForm({ initial }: { initial: ReadSettings }) {
  const zones = useId();
  const queries = useQueryClient();
  const [kept] = useState(() => readKept(PLACE, keptSchema));
  const [settings, setSettings] = useState(kept ?? initial);
  const save = useChange({
    of: changeDeskSettings,
    mutationFn: (body: DeskSettings) => call(changeDeskSettings, { body }),
    onSuccess: (saved) => {
      keepDraft(PLACE, '');
      putRecord(queries, deskSettingsQuery.queryKey, saved);
    },
  });
  const messages = fieldMessagesOf(save.error);
  function change(part: Partial<DeskSettings>) {
    const next = { ...settings, ...part };
    setSettings(next);
    keepValues(PLACE, next, initial);
    // The message is about the hours before.
    if (!save.isPending) save.reset();
  }
  const { hours } = settings;
  const { unknown_time_zone } = initial;
  const unknownZone =
    unknown_time_zone === undefined || settings.time_zone !== initial.time_zone || save.isSuccess
      ? undefined
      : `This server doesn’t know ${unknown_time_zone}, so hours are in UTC.`;

  return (
    <Form noValidate className="desk-hours" error={save.error} busy={save.isPending} onSubmit={() => save.mutate(settings)}>
      <Toggle
        label="Support is there day and night"
        isOn={hours === null}
        onChange={(isAlways) => change({ hours: isAlways ? null : [...USUAL] })}
      />
      {hours !== null && (
        <>
          <TextInput
            label="Time zone"
            size="md"
            list={zones}
            description="Such as Europe/Vienna. Customers read in their own time when support is back."
            error={messages['time_zone'] ?? unknownZone}
            value={settings.time_zone}
            onChange={(event) => change({ time_zone: event.currentTarget.value })}
          />
          <datalist id={zones}>
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
          <div className="desk-hours__days">
            {WEEKDAYS.map((day) => (
              <Day key={day} day={day} times={hours} onChange={(times) => change({ hours: times })} />
            ))}
          </div>
        </>
      )}
      <div className="desk-hours__both">
        <NumberInput
          label="Minutes until others may answer"
          description="Whoever took a conversation has this long to answer. Then anybody at the desk may."
          size="md"
          min={1}
          max={1_440}
          hideControls
          allowedDecimalSeparators={['.', ',']}
          error={messages['unanswered_minutes']}
          clampBehavior="none"
          value={shownOf(settings.unanswered_minutes)}
          onChange={(value) => change({ unanswered_minutes: Number(value) })}
        />
        <NumberInput
          label="Minutes until somebody counts as gone"
          description="After this long without an open page, everybody at the desk may take what was theirs."
          size="md"
          min={1}
          max={1_440}
          hideControls
          allowedDecimalSeparators={['.', ',']}
          error={messages['offline_minutes']}
          clampBehavior="none"
          value={shownOf(settings.offline_minutes)}
          onChange={(value) => change({ offline_minutes: Number(value) })}
        />
      </div>
      <Refusal error={SHOWN_AT_FIELDS.some((field) => field in messages) ? undefined : save.error} />
      <div className="desk-hours__end">
        <p role="status" className="sub">
          {save.isSuccess && 'The hours are saved.'}
        </p>
        {kept !== undefined && !save.isSuccess && <KeptNote />}
        <Submit>Save the hours</Submit>
      </div>
    </Form>
  );
}

/** A field that was emptied is empty: with a 0 in it, 30 that is typed next becomes 300. The server says what is missing. */
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
    <fieldset className="desk-hours__day">
      <legend>{name}</legend>
      {own.length === 0 && <span className="sub">Closed</span>}
      {own.map((time, index) => {
        const which = own.length > 1 ? `${name}, time ${index + 1}` : name;
        const change = (part: Partial<Time>) => onChange(times.map((other) => (other === time ? { ...other, ...part } : other)));
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: its place in the day is its name
          <span key={index} className="desk-hours__time">
            <input
              type="time"
              aria-label={`${which}: from`}
              value={time.from}
              onChange={(event) => change({ from: event.currentTarget.value })}
            />
            <span aria-hidden="true">to</span>
            {/* The end of a day has no time of its own in a field. */}
            <input
              type="time"
              aria-label={`${which}: to`}
              value={time.to === '24:00' ? '00:00' : time.to}
              onChange={(event) => change({ to: event.currentTarget.value === '00:00' ? '24:00' : event.currentTarget.value })}
            />
            {time.to <= time.from && <span className="sub desk-hours__next">next day</span>}
            <button
              type="button"
              className="icon-button"
              aria-label={`${which}: take away`}
              onClick={() => onChange(times.filter((other) => other !== time))}
            >
              <IconX size={16} stroke={2} aria-hidden="true" />
            </button>
          </span>
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
    </fieldset>
  );
}
