import { countDeviceWishes, listDeviceWishes } from '@palisade/contract/devices';
import { queryOptions } from '@tanstack/react-query';
import { call } from '#api/call.ts';

export const wishesQuery = queryOptions({
  queryKey: ['devices', 'wishes'],
  queryFn: ({ signal }) => call(listDeviceWishes, { signal }),
});

/** Requests of all people, for administrators. */
export const wishedQuery = queryOptions({
  queryKey: ['devices', 'wished'],
  queryFn: ({ signal }) => call(countDeviceWishes, { signal }),
});
