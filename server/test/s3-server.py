"""OpenStack Swift with its S3 interface, in one process, on loopback and in one folder: the S3 server of the tests.

Of Debian it needs the package python3-swift alone. It is a store that people run: it refuses wrong signatures and bodies that are not
what was signed, and it keeps what it took on the disk.

Usage: s3-server.py FOLDER ACCESS_KEY SECRET BUCKET [PORT]. Makes the bucket. Writes "listening PORT" to its standard output.
"""
import eventlet

eventlet.monkey_patch()

import array
import os
import sys

from eventlet import wsgi
from swift.common import utils

folder, access_key, secret, bucket = sys.argv[1:5]
wanted_port = int(sys.argv[5]) if len(sys.argv) > 5 else 0
utils.SWIFT_CONF_FILE = os.path.join(folder, 'swift.conf')
utils.HASH_PATH_SUFFIX = b'palisade tests'

from swift.account.server import AccountController
from swift.common.http_protocol import SwiftHttpProtocol
from swift.common.middleware import catch_errors, gatekeeper, listing_formats, tempauth
from swift.common.middleware.s3api import s3api
from swift.common.ring.ring import RingData
from swift.common.swob import Request
from swift.container.server import ContainerController
from swift.obj.server import ObjectController
from swift.proxy.server import Application

DEVICE = 'disk'
PARTITION_BITS = 4


class Cache:
    """What tempauth asks for, and the proxy looks accounts and containers up in; of one process it is a dictionary."""

    def __init__(self):
        self.kept = {}

    def get(self, key, *_, **__):
        return self.kept.get(key)

    def set(self, key, value, *_, **__):
        self.kept[key] = value

    def incr(self, key, delta=1, *_, **__):
        self.kept[key] = self.kept.get(key, 0) + delta
        return self.kept[key]

    def delete(self, key, *_, **__):
        self.kept.pop(key, None)


class Silent:
    """A log for wsgi that says nothing."""

    def write(self, _):
        pass

    info = debug = warning = error = exception = write


def listen(port=0):
    return eventlet.listen(('127.0.0.1', port))


def serve(sock, app, protocol=SwiftHttpProtocol):
    eventlet.spawn(wsgi.server, sock, app, Silent(), protocol=protocol, log_output=False, debug=False)


os.makedirs(os.path.join(folder, DEVICE), exist_ok=True)
conf = {'swift_dir': folder, 'devices': folder, 'mount_check': 'false', 'log_level': 'ERROR', 'log_address': os.path.join(folder, 'no-log')}
for ring, controller in (('account', AccountController), ('container', ContainerController), ('object', ObjectController)):
    sock = listen()
    device = {'id': 0, 'zone': 1, 'region': 1, 'weight': 1.0, 'device': DEVICE, 'ip': '127.0.0.1', 'port': sock.getsockname()[1]}
    parts = [array.array('H', [0] * (1 << PARTITION_BITS))]
    RingData(parts, [device], 32 - PARTITION_BITS).save(os.path.join(folder, ring + '.ring.gz'))
    serve(sock, controller(conf))

store = Application(dict(conf, account_autocreate='true', allow_account_management='true'))
account, _, user = access_key.partition(':')
app = tempauth.filter_factory({'user_%s_%s' % (account, user): secret + ' .admin'})(store)
app = s3api.filter_factory({'location': 'us-east-1', 'auth_pipeline_check': 'false'})(app)
app = listing_formats.filter_factory({})(app)
app = gatekeeper.filter_factory({})(app)
app = catch_errors.filter_factory({})(app)
cache = Cache()


def with_cache(env, start_response):
    env['swift.cache'] = cache
    return app(env, start_response)


as_owner = {'REQUEST_METHOD': 'PUT', 'swift.authorize_override': True, 'swift.cache': cache}
made = Request.blank('/v1/AUTH_%s/%s' % (account, bucket), environ=as_owner).get_response(store)
if not made.is_success:
    sys.exit('the bucket could not be made: %s' % made.status)
front = listen(wanted_port)
serve(front, with_cache)
print('listening', front.getsockname()[1], flush=True)
while True:
    eventlet.sleep(3600)
