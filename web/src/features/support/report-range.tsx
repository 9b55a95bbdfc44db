import { IconDownload } from '@tabler/icons-react';
import { Button } from '#ui/button.tsx';
import { type Days, DaysFilter } from '#ui/days-filter.tsx';
import { Row } from '#ui/layout.tsx';
import { ZONE } from '#ui/place.ts';

/** Omits an empty day from the query. */
export function queryOf({ from, to }: Days) {
  return { ...(from !== '' && { from }), ...(to !== '' && { to }) };
}

/** The fields of a report that define its period. */
interface Told extends Days {
  time_zone: string;
  unknown_time_zone?: string | undefined;
}

/** The time zone of the days of the report. */
function zoneSentence({ time_zone, unknown_time_zone }: Told): string {
  return unknown_time_zone === undefined
    ? `Days are in ${time_zone}.`
    : `This server doesn’t know the time zone ${unknown_time_zone}. Days are in UTC.`;
}

interface ReportRangeProps {
  range: Days;
  onChoose: (range: Days) => void;
  report: Told | undefined;
  isSaving?: boolean;
  onSave: () => void;
}

/** Controls for the period of a report, and buttons to save the report as a file. */
export function ReportRange({ range, onChoose, report, isSaving = false, onSave }: ReportRangeProps) {
  return (
    <Row gap="3" rowGap="2">
      <DaysFilter
        days={range}
        none="Last 12 weeks"
        shown={report && { from: report.from.slice(0, 10), to: report.to.slice(0, 10) }}
        time_zone={report?.time_zone || ZONE.name}
        onChange={onChoose}
      />
      {report && report.time_zone !== '' && <span className="small muted">{zoneSentence(report)}</span>}
      <span className="push">
        <Button
          variant="quiet"
          size="s"
          icon={IconDownload}
          iconSize={16}
          loading={isSaving}
          disabled={report === undefined}
          onClick={onSave}
        >
          Download as CSV
        </Button>
      </span>
    </Row>
  );
}
