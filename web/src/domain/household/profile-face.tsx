import type { ProfilePicture } from '@palisade/contract/household';
import type { ReactNode } from 'react';
import '#ui/face.css';

/** Drawings on a square of 24, in the colors of the scheme. */
const DRAWINGS: Record<ProfilePicture, ReactNode> = {
  fox: (
    <>
      <path fill="var(--amber-mark)" d="M3 4l5 3h8l5-3-1 9c-1 4-5 7-8 7s-7-3-8-7z" />
      <path fill="var(--surface)" d="M4 13c2 0 5 1 8 7-3 0-7-3-8-7zM20 13c-2 0-5 1-8 7 3 0 7-3 8-7z" />
      <path fill="var(--text)" d="M8 10.5a1.2 1.2 0 1 1 0 .01zM13.6 10.5a1.2 1.2 0 1 1 0 .01zM10.5 17.5h3L12 20z" />
    </>
  ),
  owl: (
    <>
      <path fill="var(--blue)" d="M4 3l4 2h8l4-2v9a8 8 0 0 1-16 0z" />
      <path fill="var(--surface)" d="M5 10.5a3.5 3.5 0 1 1 0 .01zM12 10.5a3.5 3.5 0 1 1 0 .01z" />
      <path fill="var(--text)" d="M7 10.5a1.5 1.5 0 1 1 0 .01zM14 10.5a1.5 1.5 0 1 1 0 .01z" />
      <path fill="var(--amber-mark)" d="M10.5 13.5h3L12 16.5z" />
    </>
  ),
  whale: (
    <>
      <path fill="var(--blue)" d="M2 13c0-4 4-6 8-6 5 0 7 3 9 3 1 0 1-2 0-4 2 0 3 1 3 1s0-1 1-2c1 5-1 13-11 13C5 18 2 16 2 13z" />
      <path fill="var(--surface)" d="M3 15c3 1 7 1 10 0-1 2-3 3-5 3s-4-1-5-3z" />
      <path fill="var(--text)" d="M5.5 12a1 1 0 1 1 0 .01z" />
      <path fill="none" stroke="var(--accent)" strokeWidth="1.4" strokeLinecap="round" d="M10 5V3M10 3L8 2M10 3l2-1" />
    </>
  ),
  cat: (
    <>
      <path fill="var(--muted)" d="M4 3l5 4h6l5-4v10a8 7 0 0 1-16 0z" />
      <path fill="var(--surface)" d="M7.5 11.5a1.5 1.5 0 1 1 0 .01zM13.5 11.5a1.5 1.5 0 1 1 0 .01z" />
      <path fill="var(--red)" d="M10.8 14.5h2.4L12 16z" />
      <path fill="none" stroke="var(--surface)" strokeLinecap="round" d="M2 14l4 .5M2 17l4-1M22 14l-4 .5M22 17l-4-1" />
    </>
  ),
  robot: (
    <>
      <path fill="none" stroke="var(--muted)" strokeWidth="1.6" strokeLinecap="round" d="M12 6V3M2.5 11v4M21.5 11v4" />
      <rect fill="var(--accent)" x="4" y="6" width="16" height="14" rx="4" />
      <path fill="var(--accent-ink)" d="M7 11.5a1.7 1.7 0 1 1 0 .01zM13.6 11.5a1.7 1.7 0 1 1 0 .01z" />
      <rect fill="var(--accent-ink)" x="8" y="15.5" width="8" height="1.8" rx=".9" />
    </>
  ),
  rocket: (
    <>
      <path fill="var(--red)" d="M7 12l-4 4v4l5-3zM17 12l4 4v4l-5-3z" />
      <path fill="var(--blue)" d="M12 1c4 3 6 8 4 16H8C6 9 8 4 12 1z" />
      <path fill="var(--surface)" d="M9.8 9a2.2 2.2 0 1 1 0 .01z" />
      <path fill="var(--amber-mark)" d="M9.5 18h5L12 23z" />
    </>
  ),
  tree: (
    <>
      <rect fill="var(--amber-mark)" x="10.5" y="15" width="3" height="7" rx="1" />
      <path fill="var(--good)" d="M12 1l6 7h-3l5 6h-4l3 4H5l3-4H4l5-6H6z" />
    </>
  ),
  star: (
    <>
      <path
        fill="var(--amber-mark)"
        stroke="var(--amber-mark)"
        strokeWidth="2"
        strokeLinejoin="round"
        d="M12 3l2.7 5.8 6.3.8-4.6 4.4 1.2 6.3L12 17.2l-5.6 3.1L7.6 14 3 9.6l6.3-.8z"
      />
      <path fill="var(--surface)" d="M8.7 11.8a1.1 1.1 0 1 1 0 .01zM13.1 11.8a1.1 1.1 0 1 1 0 .01z" />
    </>
  ),
  computer: (
    <>
      <rect fill="var(--muted)" x="2" y="4" width="20" height="13" rx="2" />
      <rect fill="var(--blue-soft)" x="4" y="6" width="16" height="9" rx="1" />
      <path fill="var(--muted)" d="M10 17h4l1 3h2v1H7v-1h2z" />
    </>
  ),
};

/** The picture of a profile. Its name stands next to it. */
export function ProfileFace({ picture, size = 26 }: { picture: ProfilePicture; size?: number }) {
  return (
    <span className="face" data-size={size > 26 ? 'l' : undefined} aria-hidden="true">
      <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden="true">
        {DRAWINGS[picture]}
      </svg>
    </span>
  );
}
