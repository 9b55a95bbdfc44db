import { readPersonRecord } from '@palisade/contract/person-record';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

/** Each request is recorded in the audit log, so it is sent only when staff open the record. */
export const personRecordQuery = (user_id: string) =>
  queryOptions({
    queryKey: ['person-record', user_id],
    queryFn: ({ signal }) => call(readPersonRecord, { query: { user_id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
