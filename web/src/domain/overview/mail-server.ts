import { readMailServer } from '@palisade/contract/mail';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

export const mailServerQuery = queryOptions({
  queryKey: ['mail-server'],
  queryFn: ({ signal }) => call(readMailServer, { signal }),
});
