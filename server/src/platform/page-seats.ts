import type { SaidFrame, ServerFrame } from '@palisade/contract/events';
import type { Connection } from './channels/channel-service.ts';
import type { Session } from './session.ts';

/** Frames about remote sessions, and all other frames of a page. */
export type RemoteFrame = Extract<SaidFrame, { kind: 'listen_remote' | 'leave_remote' | 'remote_signal' }>;
export type DeskFrame = Exclude<SaidFrame, RemoteFrame>;

/** Handles a page's frames other than those of its own person. */
export interface PageSeat<Frame> {
  onFrame(frame: Frame): void;
  /** Whether the page receives events that only some roles may see. */
  isOfStaff(): boolean;
  leave(): void;
}

/** A page as remote sessions see it. */
export interface RemotePage extends Pick<Connection<Session, ServerFrame>, 'tell' | 'end'> {
  user: Session['user'];
  began: Session['began'];
}

/** Lets pages take part in remote sessions. */
export interface RemotePages {
  /** The page has been welcomed, and receives its person's open sessions. */
  onWelcome(page: RemotePage): void;
  sit(page: RemotePage): PageSeat<RemoteFrame>;
}
