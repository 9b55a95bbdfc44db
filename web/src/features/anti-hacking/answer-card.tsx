import { useQuery } from '@tanstack/react-query';
import { dashboardQuery } from '#domain/dashboard/dashboard.ts';
import { StatusLead } from '#domain/status/status-lead.tsx';

/** The person's status, above their alerts. */
export function AnswerCard() {
  const { data, error } = useQuery(dashboardQuery);
  return error ? null : <StatusLead status={data?.status} />;
}
