import { TextInput } from '@mantine/core';
import { dayAfter, dayOf } from '@palisade/contract/day';
import { IconDownload } from '@tabler/icons-react';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { useMinute } from '#ui/moment.tsx';
import { ZONE } from '#ui/place.ts';

/** Two days; each is empty where the server chooses it. */
export interface Range {
  from: string;
  to: string;
}

/** Omits an empty day from the query. */
export function queryOf({ from, to }: Range) {
  return { ...(from !== '' && { from }), ...(to !== '' && { to }) };
}

/** Common ranges, in days up to today. Without a range the server returns the last 12 weeks. */
const PRESETS = [
  { label: '7 days', days: 7 },
  { label: '30 days', days: 30 },
  { label: '12 weeks', days: undefined },
  { label: 'This year', days: 'year' },
] as const;

type Preset = (typeof PRESETS)[number];

/** `today` is a date in the desk's time zone. */
function rangeOf({ days }: Preset, today: string): Range {
  if (days === undefined) return { from: '', to: '' };
  if (days === 'year') return { from: `${today.slice(0, 4)}-01-01`, to: today };
  return { from: dayAfter(today, 1 - days), to: today };
}

/** The part of a report that tells its time. */
interface Told extends Range {
  time_zone: string;
  unknown_time_zone?: string | undefined;
}

interface PresetsProps {
  range: Range;
  time_zone: string | undefined;
  onChoose: (range: Range) => void;
}

function Presets({ range, time_zone, onChoose }: PresetsProps) {
  const today = dayOf(time_zone || ZONE.name, useMinute());
  const isChosen = (preset: Preset) => {
    const { from, to } = rangeOf(preset, today);
    return from === range.from && to === range.to;
  };
  return (
    <Row as="fieldset" gap="2" className="report__presets shrink" aria-label="Time">
      {PRESETS.map((preset) => (
        <Button
          key={preset.label}
          variant="quiet"
          aria-pressed={isChosen(preset)}
          onClick={() => onChoose(rangeOf(preset, today))}
        >
          {preset.label}
        </Button>
      ))}
    </Row>
  );
}

/** The time zone of the days of the report. */
function zoneSentence({ time_zone, unknown_time_zone }: Told): string {
  return unknown_time_zone === undefined
    ? `Days are in ${time_zone}.`
    : `This server doesn’t know the time zone ${unknown_time_zone}. Days are in UTC.`;
}

interface ReportRangeProps {
  range: Range;
  onChoose: (range: Range) => void;
  report: Told | undefined;
  isSaving?: boolean;
  onSave: () => void;
}

/** The time of a report, and the report as a file. */
export function ReportRange({ range, onChoose, report, isSaving = false, onSave }: ReportRangeProps) {
  return (
    <>
      <Row gap="3" align="end" className="report__range">
        <Presets range={range} time_zone={report?.time_zone} onChoose={onChoose} />
        {(['from', 'to'] as const).map((end) => (
          <TextInput
            key={end}
            type="date"
            size="md"
            label={end === 'from' ? 'From' : 'To'}
            value={range[end] || (report?.[end].slice(0, 10) ?? '')}
            onChange={(event) => onChoose({ ...range, [end]: event.currentTarget.value })}
          />
        ))}
        <Button
          variant="quiet"
          icon={IconDownload}
          iconSize={16}
          loading={isSaving}
          disabled={report === undefined}
          onClick={onSave}
        >
          Download as CSV
        </Button>
      </Row>
      {report && report.time_zone !== '' && <p className="sub">{zoneSentence(report)}</p>}
    </>
  );
}
