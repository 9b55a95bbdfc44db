import { readPersonRecord } from '@palisade/contract/person-record';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** Each reading of it is in the audit log, so it is read only when somebody opens it. */
export const personRecordQuery = (user_id: string) =>
  queryOptions({
    queryKey: ['person-record', user_id],
    queryFn: ({ signal }) => call(readPersonRecord, { query: { user_id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
