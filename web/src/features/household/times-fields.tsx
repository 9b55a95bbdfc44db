import { TextInput } from '@mantine/core';
import { PROFILE_TIMES_MAXIMUM, type ProfileTime, TIMED } from '@palisade/contract/household';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { Button } from '#ui/button.tsx';
import { Check } from '#ui/check.tsx';
import { Choice } from '#ui/choice.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { DAY_NAMES, TIMED_WORDS, timeWords } from './rule-words.ts';

const NEW_TIME: ProfileTime = { days: [1, 2, 3, 4, 5, 6, 7], from: '21:00', to: '06:30', refuses: 'all' };

interface TimeFieldsProps {
  time: ProfileTime;
  onChange: (time: ProfileTime) => void;
  onRemove: () => void;
}

function TimeFields({ time, onChange, onRemove }: TimeFieldsProps) {
  const { days, from, to, refuses } = time;
  return (
    <Stack as="li" gap="3" className="surface-sunken pad-m">
      <Row gap="2" justify="between">
        <b>{days.length === 0 ? 'Choose at least one day.' : timeWords(time)}</b>
        <Button variant="text" size="s" icon={IconTrash} onClick={onRemove}>
          Remove time
        </Button>
      </Row>
      <Grid columns="fit-s" gap="3">
        <Choice
          label="Not available"
          value={refuses}
          data={TIMED.map((value) => ({ value, label: value === 'all' ? 'All websites' : TIMED_WORDS[value] }))}
          onChange={({ currentTarget: { value } }) => {
            const chosen = TIMED.find((one) => one === value);
            if (chosen !== undefined) onChange({ ...time, refuses: chosen });
          }}
        />
        <TextInput
          label="From"
          type="time"
          value={from}
          onChange={({ currentTarget: { value } }) => onChange({ ...time, from: value })}
        />
        <TextInput
          label="To"
          type="time"
          value={to}
          onChange={({ currentTarget: { value } }) => onChange({ ...time, to: value })}
        />
      </Grid>
      <Row as="fieldset" gap="4" rowGap="2" className="shrink bare" aria-label="Days">
        {DAY_NAMES.map((name, index) => (
          <Check
            key={name}
            label={name.slice(0, 3)}
            aria-label={name}
            checked={days.includes(index + 1)}
            onChange={({ currentTarget: { checked } }) =>
              onChange({ ...time, days: [...days.filter((day) => day !== index + 1), ...(checked ? [index + 1] : [])] })
            }
          />
        ))}
      </Row>
    </Stack>
  );
}

interface TimesFieldsProps {
  times: readonly ProfileTime[];
  onChange: (times: ProfileTime[]) => void;
}

/** Weekly times at which websites or a kind of services are refused. */
export function TimesFields({ times, onChange }: TimesFieldsProps) {
  return (
    <Stack gap="3">
      {times.length > 0 && (
        <Stack as="ul" gap="3">
          {times.map((time, index) => (
            <TimeFields
              // biome-ignore lint/suspicious/noArrayIndexKey: times have no ids, and their fields keep no state
              key={index}
              time={time}
              onChange={(changed) => onChange(times.with(index, changed))}
              onRemove={() => onChange(times.toSpliced(index, 1))}
            />
          ))}
        </Stack>
      )}
      <Row>
        <Button
          variant="quiet"
          size="s"
          icon={IconPlus}
          disabled={times.length >= PROFILE_TIMES_MAXIMUM}
          onClick={() => onChange([...times, NEW_TIME])}
        >
          Add a time
        </Button>
      </Row>
    </Stack>
  );
}
