import { expect, test } from 'vitest';
import { displayOf, isWholly, listenersOf } from './desktop.ts';
import { usersOfPort } from './vnc.ts';

test('takes only a display of this computer from an environment', () => {
  expect(displayOf({ DISPLAY: ':1.0', XAUTHORITY: '/run/user/1000/gdm/Xauthority' })).toEqual({
    display: ':1.0',
    xauthority: '/run/user/1000/gdm/Xauthority',
  });
  expect(displayOf({ DISPLAY: ':0', HOME: '/home/anna' })).toEqual({ display: ':0', xauthority: '/home/anna/.Xauthority' });
  expect(displayOf({ DISPLAY: ':0', XAUTHORITY: '../cookie' })).toEqual({ display: ':0', xauthority: undefined });
  for (const DISPLAY of ['host:0', ':0/../../x', 'unix:0', ':999999', '']) expect(displayOf({ DISPLAY })).toBeUndefined();
});

test('counts a process as a user’s only with all four ids', () => {
  expect(isWholly('Name:\tx\nUid:\t1000\t1000\t1000\t1000\nGid:\t1000\n', 1000)).toBe(true);
  expect(isWholly('Name:\tx\nUid:\t1001\t1000\t1000\t1000\n', 1000)).toBe(false);
  expect(isWholly('Name:\tUid:\t1000\n', 1000)).toBe(false);
});

test('finds the sockets that listen for a display, the abstract name among them', () => {
  const list = [
    'Num       RefCount Protocol Flags    Type St Inode Path',
    '0000000000000000: 00000002 00000000 00010000 0001 01 41 /tmp/.X11-unix/X0',
    '0000000000000000: 00000002 00000000 00010000 0001 01 42 @/tmp/.X11-unix/X0',
    '0000000000000000: 00000003 00000000 00000000 0001 03 43 /tmp/.X11-unix/X0',
    '0000000000000000: 00000002 00000000 00010000 0001 01 44 /tmp/.X11-unix/X01',
  ].join('\n');
  expect([...listenersOf(list, '/tmp/.X11-unix/X0')]).toEqual(['41', '42']);
});

test('finds the users whose sockets listen on a port', () => {
  const line = (local: string, state: string, uid: number) =>
    `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 123 1`;
  const list = [
    '  sl  local_address',
    line('0100007F:170C', '0A', 1000),
    line('00000000:170C', '0A', 1001),
    line('0100007F:170C', '01', 1002),
    line('0100007F:170D', '0A', 1003),
  ].join('\n');
  expect([...usersOfPort(list, 5900)]).toEqual([1000, 1001]);
});
