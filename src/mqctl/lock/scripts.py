"""The lock's three operations, and break and look, as Lua scripts: each is atomic in Redis.

Rules that all of them keep:

* None creates or extends a lock that is not its own: each compares the token first.
* Sent twice, each does no more than once: acquire finds its own token, a renewal carries its
  number, release and break find nothing left.
* Whatever can go wrong is looked at before the first write, and acquire sets the lock *last*: an
  error half way leaves no lock behind.
* Release, renew and break begin with a command that Redis admits when it is out of memory.

``KEYS`` are :attr:`Keys.locking`. Every answer is an array: a word, the server's time in
milliseconds, and what the word brings along (:mod:`mqctl.lock.answers` reads it).
"""

from __future__ import annotations

OWNER_FIELDS = (
    "token",
    "fence",
    "host",
    "boot_id",
    "pid_ns",
    "pid",
    "start",
    "user",
    "command",
    "version",
    "acquired_at",
    "renewed_at",
    "renewals",
    "phase",
)

_PRELUDE = """
local LOCK, OWNER, FENCE, AUTHORITY, HISTORY = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function kind(key)
  return redis.call('TYPE', key).ok
end

-- The string at a key; false if there is none, or something else.
local function read(key)
  return kind(key) == 'string' and redis.call('GET', key)
end

local function owner(...)
  if kind(OWNER) ~= 'hash' then return {} end
  return redis.call('HMGET', OWNER, ...)
end

-- What stands at the lock: its type, its value (shortened), the mark by which a break recognises
-- it, its time to live, and its owner's fields.
local function sight()
  local value = read(LOCK)
  local mark = value and redis.sha1hex(value) or kind(LOCK)
  return {kind(LOCK), value and string.sub(value, 1, 256), mark, redis.call('PTTL', LOCK),
          owner($fields)}
end

-- The fence as a number; nil if what stands there is none. 15 digits are exact in Lua and in sh.
local function fence()
  if kind(FENCE) == 'none' then return 0 end
  local text = read(FENCE)
  if not text or #text > 15 or not string.match(text, '^%d+$') then return nil end
  return tonumber(text)
end

-- Which Redis this is; the candidate if it has no name yet; nil if what stands there is none.
local function authority(candidate)
  if kind(AUTHORITY) == 'none' then return candidate end
  local text = read(AUTHORITY)
  if not text or #text ~= 36 or not string.match(text, '^[%x-]+$') then return nil end
  return text
end

local function digits(number)
  return string.format('%.0f', number)
end

local function write_owner(number, ttl, first)
  redis.call('DEL', OWNER)
  redis.call('HSET', OWNER, 'fence', digits(number), unpack(ARGV, first))
  redis.call('PEXPIRE', OWNER, ttl)
end

local function remember(...)
  if kind(HISTORY) ~= 'stream' then redis.call('DEL', HISTORY) end
  redis.call('XADD', HISTORY, 'MAXLEN', '~', 500, '*', ...)
end
""".replace("$fields", ", ".join(f"'{field}'" for field in OWNER_FIELDS))

# token, ttl in ms, not-after in ms of the server's time, a name for a Redis without, owner...
# With a not-after of 0 it only looks: it can find our token, and takes nothing.
ACQUIRE = (
    _PRELUDE
    + """
local token, ttl, not_after = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now = now_ms()
local ours = read(LOCK) == token
if not ours then
  if kind(LOCK) ~= 'none' then return {'held', now, sight()} end
  if now > not_after then return {'late', now} end
end
local name = authority(ARGV[4])
if not name then return {'broken', now, AUTHORITY} end
if ours then
  local mine = owner('token', 'fence')
  if mine[1] == token then return {'acquired', now, mine[2], name} end
end
local number = fence()
if not number then return {'broken', now, FENCE} end
number = number + 1
redis.call('SET', FENCE, digits(number))
redis.call('SET', AUTHORITY, name, 'NX')
write_owner(number, ttl, 5)
if not ours then redis.call('SET', LOCK, token, 'NX', 'PX', ttl) end
return {'acquired', now, digits(number), name}
"""
)

# token, ttl in ms, number of this renewal, our fence, floor or '', phase, RFC 3339 time, owner...
RENEW = (
    _PRELUDE
    + """
local token, ttl, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local mine, floor = tonumber(ARGV[4]), tonumber(ARGV[5])
local now = now_ms()
if ttl < 1 then return redis.error_reply('ERR a renewal needs a time to live') end
if read(LOCK) ~= token then
  local found = sight()
  remember('event', 'lock.lost', 'at', ARGV[7], 'token', token, 'fence', digits(mine),
           'phase', ARGV[6], 'found', found[2] or found[1])
  return {'lost', now, found}
end
local number = fence()
if not number then return {'broken', now, FENCE} end
local last = owner('token', 'renewals', 'fence')
if last[1] == token and (tonumber(last[2]) or 0) >= count then
  mine = tonumber(last[3]) or mine  -- this very renewal, sent again
elseif floor then
  mine = math.max(number, floor, mine) + 1
end
if redis.call('PEXPIRE', LOCK, ttl) ~= 1 then return {'lost', now, sight()} end
if number < mine then redis.call('SET', FENCE, digits(mine)) end
write_owner(mine, ttl, 8)
return {'renewed', now, digits(mine)}
"""
)

# token
RELEASE = (
    _PRELUDE
    + """
local now = now_ms()
if read(LOCK) ~= ARGV[1] then return {'gone', now, sight()} end
redis.call('DEL', LOCK, OWNER)
return {'released', now}
"""
)

# mark and renewals that were shown, a name for a Redis without, fields of the history event...
BREAK = (
    _PRELUDE
    + """
local now = now_ms()
local found = sight()
if found[1] == 'none' then return {'free', now} end
local last = owner('token', 'renewals', 'fence')
if found[3] ~= ARGV[1] or (last[2] or '') ~= ARGV[2] then return {'changed', now, found} end
local number, name = fence(), authority(ARGV[3])
if not number then return {'broken', now, FENCE} end
if not name then return {'broken', now, AUTHORITY} end
number = math.max(number, tonumber(last[3]) or 0) + 1
redis.call('DEL', LOCK, OWNER)
redis.call('SET', FENCE, digits(number))
redis.call('SET', AUTHORITY, name, 'NX')
remember('event', 'lock.broken', 'number', digits(number), unpack(ARGV, 4))
return {'cleared', now, digits(number), name}
"""
)

# Beside the keys of the lock: pending, probe, last.
LOOK = (
    _PRELUDE
    + """
return {'seen', now_ms(), sight(), read(FENCE), read(KEYS[6]), read(KEYS[7]), read(KEYS[8])}
"""
)
