# cmake -DINPUT=FILE -DOUTPUT=FILE -P Embed.cmake: the bytes of a file as elements of an array in C++.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "${bytes}\n")
