import type { UserInfo } from '@palisade/contract/auth';
import { may } from '@palisade/contract/may';
import {
  beginRecording,
  downloadSessionFile,
  listSessionFiles,
  refuseSessionFile,
  sendRecording,
  sendSessionFile,
} from '@palisade/contract/remote-files';
import type { FastifyRequest } from 'fastify';
import { attachmentHeader } from '#platform/file-name.ts';
import { originOf } from '#platform/origin.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Session } from '#platform/session.ts';
import type { Remote } from './remote.ts';
import type { FoundFile, SessionFiles } from './session-files.ts';
import type { Row } from './session-state.ts';

const isParty = (me: UserInfo, row: Row) => row.user_id === me.id || (row.agent_id === me.id && may.joinSessions(me));
const isTechnician = (me: UserInfo, row: Row) => row.user_id !== me.id && isParty(me, row);

export function serveSessionFiles(api: Api, { remote, files }: { remote: Pick<Remote, 'find'>; files: SessionFiles }): void {
  const find = ({ id }: { id: string }) => remote.find(id);
  const findFile = ({ id }: { id: string }) => files.find(id);
  const party = { find, may: isParty };
  const technicians = { find, may: isTechnician };
  const partyOfFile = { find: findFile, may: (me: UserInfo, { session }: FoundFile) => isParty(me, session) };
  const customerOfFile = { find: findFile, may: (me: UserInfo, { session }: FoundFile) => session.user_id === me.id };
  const recorder = {
    find: findFile,
    may: (me: UserInfo, { session, file }: FoundFile) => file.kind === 'recording' && isTechnician(me, session),
  };

  const byOf = ({ session, request }: { session: Session; request: FastifyRequest }, row: Row) => ({
    ...{ actor_id: session.user.id, origin: originOf(request) },
    side: row.user_id === session.user.id ? ('customer' as const) : ('technician' as const),
  });

  serve(api, listSessionFiles, party, ({ row }) => files.list(row));
  serve(api, sendSessionFile, party, ({ row, ...call }) => files.send(call.session.user, row, byOf(call, row), call.request));
  serve(api, beginRecording, technicians, ({ row, ...call }) => files.beginRecording(call.session.user, row, byOf(call, row)));
  serve(api, sendRecording, recorder, ({ row, session, request }) => files.receiveRecording(session.user, row, request));
  serve(api, refuseSessionFile, customerOfFile, ({ row, ...call }) => files.refuse(row, byOf(call, row.session)));
  serve(api, downloadSessionFile, partyOfFile, async ({ row, header, ...call }) => {
    const bytes = await files.read(row, byOf(call, row.session));
    header('content-type', 'application/octet-stream');
    header('content-length', String(row.file.size));
    header('content-security-policy', "default-src 'none'; sandbox");
    header('content-disposition', attachmentHeader(row.file.filename));
    return bytes;
  });
}
