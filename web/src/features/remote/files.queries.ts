import { downloadSessionFile, listSessionFiles, refuseSessionFile, type SessionFile } from '@palisade/contract/remote-files';
import type { LiveSession } from '@palisade/contract/remote-record';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call, download } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { saveFile } from '#ui/save-file.ts';
import { REMOTE, useSettled } from './remote.queries.ts';

/** Interval at which the state of a file is read if no event reports it, in ms. */
const ASKED_AGAIN = 5_000;

const isOnItsWay = ({ status }: SessionFile) => status === 'scanning' || status === 'recording';

export const sessionFilesQuery = (id: string) =>
  queryOptions({
    queryKey: [...REMOTE, 'files', id],
    queryFn: ({ signal }) => call(listSessionFiles, { params: { id }, signal }),
    refetchInterval: (query) => (query.state.data?.some(isOnItsWay) ? ASKED_AGAIN : false),
    networkMode: 'always',
  });

/** Whether the technician is recording with the customer's permission. */
export function useIsRecorded(session: Pick<LiveSession, 'id' | 'grants'> | undefined): boolean {
  const mayRecord = session?.grants.some(({ grant }) => grant === 'recording') ?? false;
  const { data: files } = useQuery({ ...sessionFilesQuery(session?.id ?? ''), enabled: mayRecord });
  return mayRecord && (files?.some(({ status }) => status === 'recording') ?? false);
}

export function useRefuseFile() {
  const { queries: _, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: ({ id }: SessionFile) => call(refuseSessionFile, { params: { id } }),
  });
}

export function useSaveFile() {
  const { queries: _, ...settled } = useSettled();
  return useChange({
    ...settled,
    mutationFn: async ({ id, filename }: SessionFile) =>
      saveFile(filename, await download(downloadSessionFile, { params: { id } })),
  });
}
